// The adapter of a Worker: the Worker Port, version 1, on standard input and output.
//
// It subscribes to every Group and does nothing else yet, so it claims no profile. Each stimulus has
// one place marked TODO. Logs go to stderr (std::cerr): stdout carries the answers and nothing else.

#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

using nlohmann::json;

constexpr int kNotSupported = -32001;

const json kDeclaration = {
    {"portVersion", "1"},
    {"name", "My Worker"},
    {"version", "0.1.0"},
    {"language", "C++"},
    {"profiles", json::array()},  // what is named here is judged: begin with "replay"
    {"parameters", json::object()},
};

class Worker {
 public:
  json answer(const json& call) {
    json response = {{"jsonrpc", "2.0"}, {"id", call["id"]}};
    if (call["method"] == "initialize") {
      response["result"] = kDeclaration;
    } else if (call["method"] == "shutdown") {
      response["result"] = json::object();
    } else if (const json& stimulus = call["params"]; stimuli_.count(stimulus["type"])) {
      json effects = json::array();
      stimuli_.at(stimulus["type"])(stimulus, effects);
      // The result may have "busy" (call again at once) and "wakeAt" (call again then) as well.
      response["result"] = {{"effects", effects}};
    } else {
      response["error"] = {{"code", kNotSupported}, {"message", "this stimulus is not supported"}};
    }
    return response;
  }

 private:
  // Asks for the Events of `groups` after the durable Cursor: 0, as nothing is kept yet.
  json subscribe(const json& groups) {
    json positions = json::array();
    for (const json& group : groups) {
      positions.push_back({{"groupId", group["groupId"]}, {"afterSequence", 0}});
    }
    json frame = {{"protocolVersion", "0.1"},
                  {"frameId", identifier("frame")},
                  {"frameType", "SUBSCRIBE"},
                  {"subscriptionId", identifier("subscription")},
                  {"groups", positions}};
    return {{"type", "frame"}, {"frame", frame}};
  }

  // The Session Epoch keeps it unique, also when the disk is lost.
  std::string identifier(const std::string& kind) {
    return "urn:my-worker:" + kind + ":" + std::to_string(session_epoch_) + "-" +
           std::to_string(++identifiers_);
  }

  int session_epoch_ = 0;
  int identifiers_ = 0;

  // For each stimulus, what adds its effects.
  const std::map<std::string, std::function<void(const json&, json&)>> stimuli_ = {
      {"start",
       [this](const json& stimulus, json& effects) {
         // TODO(start): open its stateDirectory and go on from what stands there.
         session_epoch_ = stimulus["sessionEpoch"];
         identifiers_ = 0;
         effects.push_back(subscribe(stimulus["groups"]));
       }},
      // TODO(policy): replace the whole policy: weights, quotas, classes, limits.
      {"policy", [](const json&, json&) {}},
      // TODO(frames): Events per Group in sequence, durable, then one ACK.
      {"frames", [](const json&, json&) {}},
      // TODO(tick): time has passed: leases, retries, resends.
      {"tick", [](const json&, json&) {}},
      // TODO(caught_up): the replay of this Group is over: Commands may be sent.
      {"caught_up", [](const json&, json&) {}},
      {"join",
       [this](const json& stimulus, json& effects) {
         // TODO(join): take the Group's Membership, context and credentials.
         effects.push_back(subscribe(json::array({stimulus["group"]})));
       }},
      // TODO(leave): nothing more comes from this Group.
      {"leave", [](const json&, json&) {}},
      // TODO(keys): replace the key registry.
      {"keys", [](const json&, json&) {}},
      // TODO(link): down: start nothing new. Up: new session, subscribe again.
      {"link", [](const json&, json&) {}},
      // TODO(token): keep it with its lease; its secret goes nowhere.
      {"token", [](const json&, json&) {}},
      // TODO(token_revoked): no operation under it any more.
      {"token_revoked", [](const json&, json&) {}},
      // TODO(snapshot): verify, restore, resume at its sequence.
      {"snapshot", [](const json&, json&) {}},
      // TODO(execution): checkpoint, submit, block, retry or fail; release.
      {"execution", [](const json&, json&) {}},
      // TODO(stop): forget the session; what is durable stays.
      {"stop", [](const json&, json&) {}},
  };
};

// One line for each line, until `shutdown` or the end of the input.
int main() {
  Worker worker;
  for (std::string line; std::getline(std::cin, line);) {
    const json call = json::parse(line);
    std::cout << worker.answer(call).dump() << std::endl;
    if (call["method"] == "shutdown") break;
  }
  return 0;
}
