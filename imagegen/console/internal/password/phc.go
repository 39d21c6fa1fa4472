package password

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// phc is an argon2id hash in PHC string format, such as $argon2id$v=19$m=19456,t=2,p=1$<salt>$<key>.
type phc struct {
	memory, passes uint32
	lanes          uint8
	salt, key      []byte
}

var encoding = base64.RawStdEncoding.Strict()

var errForm = errors.New("password: no argon2id hash in PHC form")

func (p phc) String() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memory, p.passes, p.lanes,
		encoding.EncodeToString(p.salt), encoding.EncodeToString(p.key))
}

// parsePHC reads a hash. Its parameters are safe to compute with: argon2 panics if some are zero, and very large ones
// would exhaust the machine.
func parsePHC(s string) (p phc, err error) {
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return phc{}, errForm
	}
	_, err = fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memory, &p.passes, &p.lanes)
	if err == nil {
		p.salt, err = encoding.DecodeString(parts[4])
	}
	if err == nil {
		p.key, err = encoding.DecodeString(parts[5])
	}
	if err != nil || !p.sane() {
		return phc{}, errForm
	}
	return p, nil
}

func (p phc) sane() bool {
	return p.memory >= 8*uint32(p.lanes) && p.memory <= 1<<20 && p.passes >= 1 && p.passes <= 64 && p.lanes >= 1 &&
		len(p.salt) >= 8 && len(p.salt) <= 64 && len(p.key) >= 16 && len(p.key) <= 64
}
