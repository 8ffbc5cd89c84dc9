from well_behaved import main, send

send("Example Worker 1.4.0 \x1b[32mready\x1b[0m\n")
main()
