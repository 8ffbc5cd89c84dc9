import sys

from well_behaved import answer, requests

for request in requests():
    sys.stdout.write(answer(request))
