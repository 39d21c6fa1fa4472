package survival_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

const (
	uploaders  = 8
	files      = 16
	fileSize   = 50 << 20
	memory     = 96 << 20
	diskNeeded = 10 << 30
)

// Eight clients send sixteen files of 50 MiB each, at once: 6.4 GB. The daemon's memory grows by
// less than 96 MiB, and soon after the answers no file of theirs is left.
func TestUploadsLargerThanMemory(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	daemontest.NeedDisk(t, dir, diskNeeded)
	temporary := t.TempDir()
	d := daemontest.Start(t, daemontest.Options{DataDir: dir, Env: []string{"TMPDIR=" + temporary}})
	_, first := d.NewUser(100)
	leftAlone := daemontest.Leftovers(t, dir, temporary)
	is.Equal(d.Call(operation{prompt: "warm up", n: 1, references: 1}.request(first)).Status, http.StatusOK)
	before := d.RSS()

	var wg sync.WaitGroup
	for range uploaders { // one user may have no more than 2 GiB in the spool
		_, key := d.NewUser(1)
		wg.Go(func() {
			answer, err := d.Do(t.Context(), upload(key, files, nil))
			if err != nil || answer.Status != http.StatusOK {
				t.Errorf("status %d: %s: %v", answer.Status, answer.Body, err)
			}
		})
	}
	wg.Wait()
	grown := d.RSS() - before
	t.Logf("%d MiB resident before, %d MiB more at most", before>>20, grown>>20)
	is.True(grown < memory)
	daemontest.NoLeftovers(t, leftAlone, dir, temporary)
	d.Settled(t, first, 100)
}

var errHungUp = errors.New("the client hangs up")

// Half of the clients hang up in the middle of a file: it is removed, and the others get their images.
func TestUploadsAbandoned(t *testing.T) {
	is := is.New(t)
	dir, temporary := t.TempDir(), t.TempDir()
	d := daemontest.Start(t, daemontest.Options{DataDir: dir, Env: []string{"TMPDIR=" + temporary}})
	_, key := d.NewUser(100)
	leftAlone := daemontest.Leftovers(t, dir, temporary)
	is.Equal(d.Call(operation{prompt: "warm up", n: 1, references: 1}.request(key)).Status, http.StatusOK)
	open := d.OpenFiles()

	var wg sync.WaitGroup
	for i := range uploaders {
		wg.Go(func() {
			if i%2 == 0 {
				if _, err := d.Do(t.Context(), upload(key, 2, errHungUp)); !errors.Is(err, errHungUp) {
					t.Errorf("hung up, and got %v", err)
				}
				return
			}
			answer, err := d.Do(t.Context(), upload(key, 2, nil))
			if err != nil || answer.Status != http.StatusOK {
				t.Errorf("status %d: %s: %v", answer.Status, answer.Body, err)
			}
		})
	}
	wg.Wait()
	daemontest.NoLeftovers(t, leftAlone, dir, temporary)
	daemontest.Eventually(t, 10*time.Second, "descriptors are closed", func() bool {
		return d.OpenFiles() < open+uploaders
	})
	is.Equal(len(d.MustGenerations(t, key, "")), 1+uploaders/2)
	d.Settled(t, key, 100)
	d.Clean(t)
}

// upload is a request with so many reference images of 50 MiB. Where broken is set, reading the
// body ends with it in the middle of the last file.
func upload(key string, files int, broken error) daemontest.Request {
	var fields bytes.Buffer
	w := multipart.NewWriter(&fields)
	w.WriteField("model", "fake-1")
	w.WriteField("prompt", "large references")
	w.WriteField("size", "48x32")
	var parts []io.Reader
	for i := range files {
		w.CreateFormFile("reference_image", fmt.Sprintf("%d.png", i)) // a buffer takes all
		parts = append(parts, strings.NewReader(fields.String()), bytes.NewReader(reference))
		fields.Reset()
		padding := int64(fileSize - len(reference))
		if broken != nil && i == files-1 {
			parts = append(parts, io.LimitReader(zeros{}, padding/2), failing{broken})
		}
		parts = append(parts, io.LimitReader(zeros{}, padding))
	}
	w.Close()
	parts = append(parts, &fields)
	r := daemontest.Generate(key, io.MultiReader(parts...))
	return r.With("Content-Type", w.FormDataContentType())
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
