from well_behaved import send

while True:
    send("starting up\n" * 1000)
