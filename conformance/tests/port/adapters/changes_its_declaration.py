import os

from well_behaved import DECLARATION, answer, requests, send

for request in requests():
    changed = {**DECLARATION, "version": f"1.0.{os.getpid()}"}
    send(answer(request, changed if request["method"] == "initialize" else None))
