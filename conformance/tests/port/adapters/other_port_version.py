from well_behaved import DECLARATION, answer, misbehave, send

misbehave("initialize", lambda request: send(answer(request, {**DECLARATION, "portVersion": "2"})))
