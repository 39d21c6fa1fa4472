package provider

import (
	"strconv"
	"testing"

	"github.com/matryer/is"
)

func TestFailuresAreBounded(t *testing.T) {
	is := is.New(t)
	var f failures
	for i := range 2 * maxFailures {
		is.Equal(f.increment(strconv.Itoa(i)), 1)
	}
	is.Equal(len(f.calls), maxFailures)
}
