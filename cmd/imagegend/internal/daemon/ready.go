package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// readyFile is what --ready-file has, for a program in any language that started the service.
type readyFile struct {
	URL     string `json:"url"`
	Console string `json:"console,omitempty"`
	Ops     string `json:"ops,omitempty"`
	APIKey  string `json:"api_key,omitempty"` // of --dev
}

// clearReady removes the file of a service that was killed, by which a program would take this one for ready.
func (d *daemon) clearReady() error {
	if d.options.ReadyFile == "" {
		return nil
	}
	if err := os.Remove(d.options.ReadyFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--ready-file: %w", err)
	}
	return nil
}

// writeReady writes the file under another name first, so that nobody reads half of it. Its mode keeps the key from
// other users.
func (d *daemon) writeReady() error {
	if d.options.ReadyFile == "" {
		return nil
	}
	content := readyFile{URL: d.listenURL(), APIKey: d.devKey.Reveal()}
	if d.options.Console {
		content.Console = d.consoleURL()
	}
	if d.ops != nil {
		content.Ops = d.ops.url()
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(d.options.ReadyFile), ".imagegend-ready-") // mode 0600
	if err != nil {
		return fmt.Errorf("--ready-file: %w", err)
	}
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), d.options.ReadyFile)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("--ready-file: %w", err)
	}
	return nil
}
