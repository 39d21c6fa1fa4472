package storagetest

import "testing"

func TestEachPromiseHasATest(t *testing.T) { promises.HaveTests(t) }
