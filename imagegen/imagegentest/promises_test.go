package imagegentest

import "testing"

func TestEachPromiseHasATest(t *testing.T) { promises.HaveTests(t) }
