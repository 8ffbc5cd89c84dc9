import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * The adapter of a Worker: the Worker Port, version 1, on standard input and output.
 *
 * <p>It subscribes to every Group and does nothing else yet, so it claims no profile. Each stimulus
 * has one place marked TODO. Logs go to System.err: stdout carries the answers and nothing else.
 */
public final class Worker {
    private static final int NOT_SUPPORTED = -32001;
    private static final JsonObject DECLARATION = JsonParser.parseString("""
            {"portVersion": "1", "name": "My Worker", "version": "0.1.0", "language": "Java",
             "profiles": [], "parameters": {}}
            """).getAsJsonObject(); // what `profiles` names is judged: begin with "replay"

    private long sessionEpoch;
    private long identifiers;

    /** Adds the effects of one stimulus; returns whether it is known. */
    private boolean handle(JsonObject stimulus, JsonArray effects) {
        switch (stimulus.get("type").getAsString()) {
            case "start" -> {
                // TODO(start): open its stateDirectory and go on from what stands there.
                sessionEpoch = stimulus.get("sessionEpoch").getAsLong();
                identifiers = 0;
                effects.add(subscribe(stimulus.getAsJsonArray("groups")));
            }
            case "policy" -> {
                // TODO(policy): replace the whole policy: weights, quotas, classes, limits.
            }
            case "frames" -> {
                // TODO(frames): Events per Group in sequence, durable, then one ACK.
            }
            case "tick" -> {
                // TODO(tick): time has passed: leases, retries, resends.
            }
            case "caught_up" -> {
                // TODO(caught_up): the replay of this Group is over: Commands may be sent.
            }
            case "join" -> {
                // TODO(join): take the Group's Membership, context and credentials.
                JsonArray group = new JsonArray();
                group.add(stimulus.get("group"));
                effects.add(subscribe(group));
            }
            case "leave" -> {
                // TODO(leave): nothing more comes from this Group.
            }
            case "keys" -> {
                // TODO(keys): replace the key registry.
            }
            case "link" -> {
                // TODO(link): down: start nothing new. Up: new session, subscribe again.
            }
            case "token" -> {
                // TODO(token): keep it with its lease; its secret goes nowhere.
            }
            case "token_revoked" -> {
                // TODO(token_revoked): no operation under it any more.
            }
            case "snapshot" -> {
                // TODO(snapshot): verify, restore, resume at its sequence.
            }
            case "execution" -> {
                // TODO(execution): checkpoint, submit, block, retry or fail; release.
            }
            case "stop" -> {
                // TODO(stop): forget the session; what is durable stays.
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Asks for the Events of `groups` after the durable Cursor: 0, as nothing is kept yet. */
    private JsonObject subscribe(JsonArray groups) {
        JsonArray positions = new JsonArray();
        for (JsonElement group : groups) {
            JsonObject position = new JsonObject();
            position.add("groupId", group.getAsJsonObject().get("groupId"));
            position.addProperty("afterSequence", 0);
            positions.add(position);
        }
        JsonObject frame = new JsonObject();
        frame.addProperty("protocolVersion", "0.1");
        frame.addProperty("frameId", identifier("frame"));
        frame.addProperty("frameType", "SUBSCRIBE");
        frame.addProperty("subscriptionId", identifier("subscription"));
        frame.add("groups", positions);
        JsonObject effect = new JsonObject();
        effect.addProperty("type", "frame");
        effect.add("frame", frame);
        return effect;
    }

    /** The Session Epoch keeps it unique, also when the disk is lost. */
    private String identifier(String kind) {
        return "urn:my-worker:" + kind + ":" + sessionEpoch + "-" + ++identifiers;
    }

    private JsonObject answer(JsonObject call) {
        JsonObject result = new JsonObject(); // `busy` and `wakeAt` may stand beside `effects`
        JsonObject error = new JsonObject();
        String method = call.get("method").getAsString();
        if (method.equals("initialize")) {
            result = DECLARATION;
        } else if (method.equals("handle")) {
            JsonArray effects = new JsonArray();
            result.add("effects", effects);
            if (!handle(call.getAsJsonObject("params"), effects)) {
                error.addProperty("code", NOT_SUPPORTED);
                error.addProperty("message", "this stimulus is not supported");
            }
        }
        JsonObject response = new JsonObject();
        response.addProperty("jsonrpc", "2.0");
        response.add("id", call.get("id"));
        response.add(error.size() == 0 ? "result" : "error", error.size() == 0 ? result : error);
        return response;
    }

    /** One line for each line, until `shutdown` or the end of the input. */
    public static void main(String[] arguments) throws IOException {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        Worker worker = new Worker();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonObject call = JsonParser.parseString(line).getAsJsonObject();
            out.print(worker.answer(call) + "\n");
            out.flush();
            if (call.get("method").getAsString().equals("shutdown")) {
                return;
            }
        }
    }
}
