// Package nodes measures what nodes on PostgreSQL do beside one on bbolt, by turns on one disk:
//
//	IMAGEGEN_TEST_POSTGRES=1 go test -run xxx -bench . -benchtime 7x -timeout 0 ./bench/nodes
//
// -benchtime is how often each side has its turn, of a second. The ratio is the median of the rounds, low and high are
// the least and the most. docs/scaling.md has the targets.
package nodes
