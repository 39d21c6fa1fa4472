package signin

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// A device cookie says that a user has signed in in this browser with the present password. It signs nobody in. It only
// exempts its holder from the limits that strangers may have exhausted for the user's name: see package limiter.
//
// The cookie is an HMAC whose key derives from the password's hash. So nothing has to be stored, every node accepts
// it, a restart changes nothing, and a new password ends it.

// deviceTime is how long a browser stays known after a sign-in.
const deviceTime = 180 * 24 * time.Hour

// A cookie consists of the time of issue in Unix seconds, 8 random bytes that identify the browser, and the HMAC of
// both.
const (
	deviceIssued = 8
	deviceHead   = deviceIssued + 8
	deviceSize   = deviceHead + sha256.Size
)

// deviceCookie is the cookie's name. It differs for each user, since several may share a browser.
func deviceCookie(u imagegen.UserID) string {
	hash := sha256.Sum256([]byte(u))
	return "device-" + hex.EncodeToString(hash[:8])
}

// sealDevice returns the HMAC of a cookie's head. l must have a password.
func sealDevice(l account.Login, head []byte) []byte {
	mac := hmac.New(sha256.New, []byte("device of "+string(l.User)+" "+l.Password))
	mac.Write(head)
	return mac.Sum(nil)
}

// setDeviceCookie makes the browser known to a user. For a user without a password it does nothing.
func setDeviceCookie(p *frame.Page, l account.Login) {
	if l.Password == "" {
		return
	}
	head := make([]byte, deviceHead)
	binary.BigEndian.PutUint64(head, uint64(p.Now.Unix()))
	rand.Read(head[deviceIssued:]) // never fails
	value := base64.RawURLEncoding.EncodeToString(append(head, sealDevice(l, head)...))
	p.SetCookie(deviceCookie(l.User), value, deviceTime)
}

// knownBrowser identifies the browser for the limits on sign-ins; "": the browser is not known to this login.
func knownBrowser(p *frame.Page, l account.Login) string {
	cookie, ok := p.Cookie(deviceCookie(l.User))
	if !ok || l.Password == "" {
		return ""
	}
	// Nothing in the value counts before its HMAC is checked.
	value, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil || len(value) != deviceSize || !hmac.Equal(value[deviceHead:], sealDevice(l, value[:deviceHead])) {
		return ""
	}
	issued := time.Unix(int64(binary.BigEndian.Uint64(value)), 0)
	// The cookie's own age limit is only a request to the browser.
	if age := p.Now.Sub(issued); age < 0 || age > deviceTime {
		return ""
	}
	return string(value[deviceIssued:deviceHead])
}
