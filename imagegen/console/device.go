package console

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// A device cookie says that a user signed in in this browser with the present password. It signs nobody in:
// it lets its holder past the throttle that strangers have put on the user's name. What it is sealed with is
// derived from the password's hash, so that nothing has to be kept, restarts change nothing, and a new
// password ends it.

// deviceTime is how long a browser is known after a sign-in.
const deviceTime = 180 * 24 * time.Hour

// A cookie holds when it was issued, in Unix seconds, what tells it from others, and its seal.
const (
	deviceIssued = 8
	deviceHead   = deviceIssued + 8
	deviceSize   = deviceHead + sha256.Size
)

// deviceCookie is the cookie's name; several users may share a browser.
func deviceCookie(u imagegen.UserID) string {
	hash := sha256.Sum256([]byte(u))
	return "device-" + hex.EncodeToString(hash[:8])
}

func sealDevice(l account.Login, head []byte) []byte {
	mac := hmac.New(sha256.New, []byte("device of "+string(l.User)+" "+l.Password))
	mac.Write(head)
	return mac.Sum(nil)
}

// rememberDevice makes the browser known to a user who has a password.
func (p *page) rememberDevice(l account.Login) {
	if l.Password == "" {
		return
	}
	head := make([]byte, deviceHead)
	binary.BigEndian.PutUint64(head, uint64(p.now.Unix()))
	rand.Read(head[deviceIssued:]) // never fails
	value := base64.RawURLEncoding.EncodeToString(append(head, sealDevice(l, head)...))
	http.SetCookie(p.w, p.c.cookie(deviceCookie(l.User), value, int(deviceTime/time.Second)))
}

// device is the browser as the limit on failures counts it; "": it is not known to this login.
func (p *page) device(l account.Login) string {
	cookie, err := p.r.Cookie(p.c.cookieName(deviceCookie(l.User)))
	if err != nil || l.Password == "" {
		return ""
	}
	value, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || len(value) != deviceSize || !hmac.Equal(value[deviceHead:], sealDevice(l, value[:deviceHead])) {
		return ""
	}
	issued := time.Unix(int64(binary.BigEndian.Uint64(value)), 0)
	if age := p.now.Sub(issued); age < 0 || age > deviceTime {
		return ""
	}
	return string(value[deviceIssued:deviceHead])
}
