package upstreams_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/imagegen"
)

// Prompts that every vendor knows.
const (
	endless   = "never finish this" // answers when the client has gone
	forbidden = "draw something forbidden"
)

// vendor is a stand-in for a web API that takes the fields of its documentation and no others.
type vendor struct {
	keyHeader string
	probe     string // what a question about the key is asked at
	endpoints map[string]endpoint
	refuse    func(status int, why string) any // an error's body
	moderated func(w http.ResponseWriter)      // the answer to what is forbidden
	size      func(fields object) string       // of the image, written WxH
	link      string                           // the field of an image's address, in place of
	bytes     string                           // that of its bytes
	list      string                           // the field of the images
	count     string                           // the field of their number; "": there is one
	uploads   string                           // where references are stored; "": nowhere
	answer    func(addresses []string) any     // the answer, if it is not a list of objects
	usage     object                           // what the answer says of its use; nil: nothing

	mu     sync.Mutex
	sent   []object
	stored []string
}

// endpoint is where images are asked for. Its check says what is wrong with the values.
type endpoint struct {
	fields []string
	form   bool
	check  func(fields object) error
}

func (v *vendor) requests() []object {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.sent)
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if size, ok := strings.CutPrefix(r.URL.Path, "/files/"); ok {
		w.Header().Set("Content-Type", "image/png")
		w.Write(pngOf(size))
		return
	}
	if !strings.HasSuffix(r.Header.Get(v.keyHeader), theKey) {
		v.fail(w, http.StatusUnauthorized, "the key is not valid")
		return
	}
	e, ok := v.endpoints[r.URL.Path]
	switch {
	case r.Method == http.MethodGet && r.URL.Path == v.probe:
		answer(w, object{"data": []any{}})
	case r.Method == http.MethodPost && r.URL.Path == v.uploads:
		v.store(w, r)
	case r.Method != http.MethodPost || !ok:
		v.fail(w, http.StatusNotFound, "there is no such path")
	default:
		v.generate(w, r, e)
	}
}

func (v *vendor) generate(w http.ResponseWriter, r *http.Request, e endpoint) {
	fields, err := e.read(r)
	if err == nil {
		err = e.check(fields)
	}
	if err != nil {
		v.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	v.mu.Lock()
	v.sent = append(v.sent, fields)
	v.mu.Unlock()
	switch fields["prompt"] {
	case endless:
		<-r.Context().Done()
	case forbidden:
		v.moderated(w)
	default:
		if v.answer != nil {
			answer(w, v.answer([]string{"http://" + r.Host + "/files/" + v.size(fields)}))
			return
		}
		a := object{"created": 1776729600, v.list: v.images(r, fields)}
		if v.usage != nil {
			a["usage"] = v.usage
		}
		answer(w, a)
	}
}

// store answers with the address of a file, once it is there.
func (v *vendor) store(w http.ResponseWriter, r *http.Request) {
	fields, err := readForm(r)
	if err != nil || len(fields) != 1 || !isImage(fields["file"]) {
		v.fail(w, http.StatusBadRequest, "a file is wanted")
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stored = append(v.stored, fmt.Sprintf("https://files.example.com/%d.png", len(v.stored)))
	answer(w, object{"code": 200, "message": "success", "data": object{"type": "image",
		"download_url": v.stored[len(v.stored)-1], "size": 1}})
}

// has reports whether an address is that of a file that was stored.
func (v *vendor) has(address any) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Contains(v.stored, fmt.Sprint(address))
}

func (v *vendor) images(r *http.Request, fields object) []object {
	n := 1
	if asked, ok := fields[v.count].(float64); ok {
		n = int(asked)
	}
	size := v.size(fields)
	images := make([]object, n)
	for i := range images {
		images[i] = object{"seed": 42}
		if v.link != "" {
			images[i][v.link] = "http://" + r.Host + "/files/" + size
		} else {
			images[i][v.bytes] = pngOf(size)
		}
	}
	return images
}

func (v *vendor) fail(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v.refuse(status, why))
}

// read refuses a body of another kind, and fields that the endpoint does not know.
func (e endpoint) read(r *http.Request) (fields object, err error) {
	kind := "application/json"
	if e.form {
		kind = "multipart/form-data"
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), kind) {
		return nil, fmt.Errorf("%s is wanted", kind)
	}
	if e.form {
		fields, err = readForm(r)
	} else {
		err = json.NewDecoder(r.Body).Decode(&fields)
	}
	for name := range fields {
		if !slices.Contains(e.fields, name) {
			return nil, fmt.Errorf("unknown field %q", name)
		}
	}
	if prompt, _ := fields["prompt"].(string); err == nil && prompt == "" {
		err = errors.New("prompt is required")
	}
	return fields, err
}

// readForm makes of numbers what they are in JSON, and of files data: URLs.
func readForm(r *http.Request) (object, error) {
	fields := object{}
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, err
	}
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return fields, nil
		}
		if err != nil {
			return nil, err
		}
		raw, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		var number float64
		switch {
		case fields[part.FormName()] != nil:
			return nil, fmt.Errorf("field %q comes twice", part.FormName())
		case part.FileName() != "":
			fields[part.FormName()] = "data:" + part.Header.Get("Content-Type") + ";base64," +
				base64.StdEncoding.EncodeToString(raw)
		case json.Unmarshal(raw, &number) == nil:
			fields[part.FormName()] = number
		default:
			fields[part.FormName()] = string(raw)
		}
	}
}

// isImage reports whether v is a data: URL of an image of the type that it names.
func isImage(v any) bool {
	text, _ := v.(string)
	declared, encoded, _ := strings.Cut(strings.TrimPrefix(text, "data:"), ";base64,")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	return err == nil && strings.HasPrefix(declared, "image/") && http.DetectContentType(raw) == declared
}

// among refuses a value that is not one of some; one that is not given is.
func among(fields object, name string, values ...string) error {
	if v, given := fields[name]; given && !slices.Contains(values, fmt.Sprint(v)) {
		return fmt.Errorf("%s is %v", name, v)
	}
	return nil
}

// between refuses a number out of its bounds; one that is not given is not.
func between(fields object, name string, least, most float64) error {
	if v, given := fields[name]; given {
		if n, ok := v.(float64); !ok || n < least || n > most || n != float64(int(n)) {
			return fmt.Errorf("%s is %v", name, v)
		}
	}
	return nil
}

var addressOf = regexp.MustCompile(`base_url: https://[^/\s]+`)

// documented is the provider of the docs' example of that name, whose upstream is at another address.
func documented(t *testing.T, name, address string) imagegen.Provider {
	t.Helper()
	text, err := os.ReadFile("../../../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(string(text), "```") {
		if !strings.HasPrefix(block, "yaml\n") || !strings.Contains(block, "name: "+name+"\n") {
			continue
		}
		block = addressOf.ReplaceAllString(strings.TrimPrefix(block, "yaml\n"), "private: true\n      base_url: "+
			address)
		file := filepath.Join(t.TempDir(), "models.yaml")
		if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
			t.Fatal(err)
		}
		models, err := catalog.Load(file, catalog.Options{Getenv: func(string) string { return theKey }})
		if err != nil {
			t.Fatal(err)
		}
		return models[0].Provider
	}
	t.Fatalf("docs/providers.md has no example of %s", name)
	return nil
}
