MINUTES ?= 60

.PHONY: test proofs proof bench

test: ## every module of the workspace; go test ./... tests the library alone
	go test work

proofs: ## each proof once, in full
	.ci/run proofs

proof: ## all proofs, for so many minutes: make proof MINUTES=600
	proof/run $(MINUTES)

bench: ## the service against the least that one can do, into docs/performance.md
	go run ./bench -into docs/performance.md
