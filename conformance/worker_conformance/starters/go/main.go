// The adapter of a Worker: the Worker Port, version 1, on standard input and output.
//
// It subscribes to every Group and does nothing else yet, so it claims no profile. Each stimulus has
// one place marked TODO. Logs go to stderr, as package log does: stdout carries the answers alone.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
)

const notSupported = -32001

type object = map[string]any

var declaration = object{
	"portVersion": "1",
	"name":        "My Worker",
	"version":     "0.1.0",
	"language":    "Go",
	"profiles":    []string{}, // what is named here is judged: begin with "replay"
	"parameters":  object{},
}

type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type group struct {
	GroupID string `json:"groupId"`
}

// What the starter reads of a stimulus; add what a stimulus of yours needs.
type stimulus struct {
	Type           string  `json:"type"`
	SessionEpoch   int     `json:"sessionEpoch"`
	StateDirectory string  `json:"stateDirectory"`
	Groups         []group `json:"groups"`
	Group          group   `json:"group"`
}

type worker struct{ sessionEpoch, identifiers int }

// handle returns the effects of one stimulus, and whether it is known.
func (w *worker) handle(s stimulus) ([]object, bool) {
	effects := []object{}
	switch s.Type {
	case "start":
		// TODO(start): open s.StateDirectory and go on from what stands there.
		*w = worker{sessionEpoch: s.SessionEpoch}
		effects = append(effects, w.subscribe(s.Groups))
	case "policy":
		// TODO(policy): replace the whole policy: weights, quotas, classes, limits.
	case "frames":
		// TODO(frames): Events per Group in sequence, durable, then one ACK.
	case "tick":
		// TODO(tick): time has passed: leases, retries, resends.
	case "caught_up":
		// TODO(caught_up): the replay of this Group is over: Commands may be sent.
	case "join":
		// TODO(join): take the Group's Membership, context and credentials.
		effects = append(effects, w.subscribe([]group{s.Group}))
	case "leave":
		// TODO(leave): nothing more comes from this Group.
	case "keys":
		// TODO(keys): replace the key registry.
	case "link":
		// TODO(link): down: start nothing new. Up: new session, subscribe again.
	case "token":
		// TODO(token): keep it with its lease; its secret goes nowhere.
	case "token_revoked":
		// TODO(token_revoked): no operation under it any more.
	case "snapshot":
		// TODO(snapshot): verify, restore, resume at its sequence.
	case "execution":
		// TODO(execution): checkpoint, submit, block, retry or fail; release.
	case "stop":
		// TODO(stop): forget the session; what is durable stays.
		*w = worker{}
	default:
		return nil, false
	}
	return effects, true
}

// subscribe asks for the Events of groups after the durable Cursor: 0, as nothing is kept yet.
func (w *worker) subscribe(groups []group) object {
	positions := []object{}
	for _, g := range groups {
		positions = append(positions, object{"groupId": g.GroupID, "afterSequence": 0})
	}
	return object{"type": "frame", "frame": object{
		"protocolVersion": "0.1", "frameType": "SUBSCRIBE",
		"frameId": w.identifier("frame"), "subscriptionId": w.identifier("subscription"),
		"groups": positions,
	}}
}

// identifier is unique by its Session Epoch, also when the disk is lost.
func (w *worker) identifier(kind string) string {
	w.identifiers++
	return fmt.Sprintf("urn:my-worker:%s:%d-%d", kind, w.sessionEpoch, w.identifiers)
}

func (w *worker) answer(c call) object {
	response := object{"jsonrpc": "2.0", "id": c.ID, "result": object{}}
	switch c.Method {
	case "initialize":
		response["result"] = declaration
	case "handle":
		s := stimulus{}
		if err := json.Unmarshal(c.Params, &s); err != nil {
			log.Fatal(err)
		}
		if effects, known := w.handle(s); known {
			// The result may have "busy" (call again at once) and "wakeAt" (call again then) too.
			response["result"] = object{"effects": effects}
		} else {
			delete(response, "result")
			response["error"] = object{"code": notSupported, "message": s.Type + " is not supported"}
		}
	}
	return response
}

// main answers each line with one line, until shutdown or the end of the input.
func main() {
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	var w worker
	for c := (call{}); c.Method != "shutdown"; {
		if err := in.Decode(&c); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		if err := out.Encode(w.answer(c)); err != nil {
			log.Fatal(err)
		}
	}
}
