from well_behaved import answer, requests, send

for request in requests():
    send(answer(request))
