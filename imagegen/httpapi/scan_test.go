package httpapi

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// What scanObject takes, encoding/json takes and understands in the same way.
func FuzzScanObject(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		members := map[string]value{}
		err := scanObject(b, func(name string, v value) error {
			if v.kind == compound {
				return unknownField(name, nil)
			}
			members[name] = v
			return nil
		})
		var want map[string]any
		wantErr := json.Unmarshal(b, &want)
		if err != nil {
			return
		}
		if wantErr != nil || want == nil || !utf8.Valid(b) || len(want) != len(members) {
			t.Fatalf("%q was taken; encoding/json says %v %v", b, want, wantErr)
		}
		for name, v := range want {
			if got := members[name]; got.value() != v {
				t.Fatalf("%q: %q is %v; encoding/json says %v", b, name, got, v)
			}
		}
	})
}

func (v value) value() (decoded any) {
	switch v.kind {
	case text:
		return v.text
	case null:
		return nil
	}
	if err := json.Unmarshal([]byte(v.text), &decoded); err != nil {
		return err
	}
	return decoded
}
