from well_behaved import Worker, answer, misbehave, send

WORKER = Worker()
misbehave(
    "handle", lambda call: send(answer(call, {**WORKER.handle(call["params"]), "busy": True}))
)
