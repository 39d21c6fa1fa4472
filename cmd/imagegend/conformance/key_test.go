package conformance_test

import (
	"crypto/sha256"
	"encoding/json"
	"hash/crc32"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

var keyChecks = []check{
	{
		name: "the form of a key",
		lines: []string{
			"spec: 2. A key is created by a signed-in user",
			"contract: Key format: `img_live_`",
		},
		run:       checkKeyForm,
		elsewhere: []string{"imagegen/account.TestMistypedKeyIsMalformed"},
	},
	{
		name: "only a hash of a key is stored",
		lines: []string{
			"spec: 3. The raw key is shown once, at creation.",
			"contract: Key format: `img_live_`",
			"contract: | `key create --user NAME",
		},
		daemon: checkKeyIsNotStored,
	},
}

var keyForm = regexp.MustCompile(`^img_live_[0-9A-Za-z]{49}$`)

func checkKeyForm(t *testing.T, s *service) {
	is := is.New(t)
	a := s.account(t, 0)
	seen := map[string]bool{}
	for range 3 {
		key := s.createKey(t, a.user, 0)
		is.True(keyForm.MatchString(key))
		is.True(!seen[key])
		seen[key] = true
		is.Equal(key[52:], checksum(key[:52]))
	}
}

// checksum is the CRC-32 in 6 base62 characters.
func checksum(s string) string {
	digits := big.NewInt(int64(crc32.ChecksumIEEE([]byte(s)))).Text(62)
	return strings.Repeat("0", 6-len(digits)) + digits
}

func checkKeyIsNotStored(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	d := daemontest.Start(t, daemontest.Options{DataDir: dir})
	a := serviceOf(d).account(t, 10)
	other := strings.TrimSpace(d.Admin("key", "create", "--user", a.user, "--name", "other", "--expires-in", "720h"))
	a.generated(t, nil)
	is.Equal(d.Terminate(exitLimit), 0) // when keys were used is written now at the latest

	var stored, hashed bool
	is.NoErr(filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		hash := sha256.Sum256([]byte(a.key))
		stored = stored || strings.Contains(string(content), a.key[15:])
		hashed = hashed || strings.Contains(string(content), string(hash[:]))
		return err
	}))
	is.True(!stored)
	is.True(hashed)
	is.True(!strings.Contains(d.Output(), a.key[15:]))

	listing := d.Admin("key", "list", "--user", a.user, "--json")
	is.True(!strings.Contains(listing, a.key[15:]) && !strings.Contains(listing, other[15:]))
	var keys []object
	is.NoErr(json.Unmarshal([]byte(listing), &keys))
	one := object{"id": pattern(`key_\w+`), "name": "default", "prefix": a.key[:15], "created_at": timestamp,
		"expires_at": nil, "revoked_at": nil, "last_used_at": timestamp, "limits": map[string]any{"credits": 0.0,
			"daily_credits": 0.0, "monthly_credits": 0.0, "at_once": 0.0}}
	same(t, keys, []object{one, with(one, object{"name": "other", "prefix": other[:15], "expires_at": timestamp,
		"last_used_at": nil})})
	expires := moment(t, keys[1]["expires_at"]).Sub(moment(t, keys[1]["created_at"])).Round(time.Minute)
	is.Equal(expires, 720*time.Hour)
}
