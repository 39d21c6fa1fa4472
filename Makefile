MINUTES ?= 60

.PHONY: test proof bench

test: ## what the README promises
	go test ./...

proof: ## all proofs, as long as told: make proof MINUTES=600
	proof/run $(MINUTES)

bench: ## the service against the least that one can do, into docs/performance.md
	go run ./bench -into docs/performance.md
