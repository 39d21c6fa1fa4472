package disk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// leaked returns what this process still has open below a directory, and whether it runs more
// goroutines than before. What is ending is given the time for it.
func leaked(dir string, goroutines int) (err error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < 5*time.Second; <-tick.C {
		if err = leakedNow(dir, goroutines); err == nil {
			return nil
		}
	}
	return err
}

func leakedNow(dir string, goroutines int) error {
	if n := runtime.NumGoroutine(); n > goroutines {
		return fmt.Errorf("%d goroutines run, %d did before", n, goroutines)
	}
	descriptors, err := filepath.Glob("/proc/self/fd/*")
	for _, d := range descriptors {
		if file, gone := os.Readlink(d); gone == nil && strings.HasPrefix(file, dir+"/") {
			return fmt.Errorf("%s is open still", file)
		}
	}
	return err
}
