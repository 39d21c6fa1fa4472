package survival_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// diary keeps the answers that clients got in a file that outlives this process too.
type diary struct {
	mu     sync.Mutex
	file   *os.File
	synced time.Time
}

// syncEvery bounds how much of the diary a power cut could take; a flush at each line would slow the
// clients down.
const syncEvery = 10 * time.Millisecond

func newDiary(t *testing.T) *diary {
	f, err := os.CreateTemp("", "imagegend-diary-*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.Close()
		if t.Failed() {
			t.Logf("the answers of clients: %s", f.Name())
			return
		}
		os.Remove(f.Name())
	})
	t.Logf("diary %s", filepath.Base(f.Name()))
	return &diary{file: f}
}

// note keeps an answer.
func (d *diary) note(t testing.TB, what any) {
	line, err := json.Marshal(map[string]any{"at": time.Now(), "answer": what})
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		_, err = d.file.Write(append(line, '\n'))
	}
	if now := time.Now(); err == nil && now.Sub(d.synced) > syncEvery {
		d.synced, err = now, d.file.Sync()
	}
	if err != nil {
		t.Errorf("the diary: %v", err)
	}
}
