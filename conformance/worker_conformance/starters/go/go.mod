module my-worker

go 1.19
