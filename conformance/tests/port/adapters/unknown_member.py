from well_behaved import answer, misbehave, send

misbehave("handle", lambda request: send(answer(request, {"effects": [], "mood": "fine"})))
