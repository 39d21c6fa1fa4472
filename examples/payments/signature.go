package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"
)

// tolerance is how old an event may be, so that one which somebody has recorded is soon worth nothing.
const tolerance = 5 * time.Minute

var errSignature = errors.New("the signature does not do")

// verify checks a header "t=1700000000,v1=hex,v1=hex": one of the signatures must be the HMAC-SHA256 of the time, a
// point and the payload. There are two while the secret is changed.
func verify(header string, payload, secret []byte, now time.Time) error {
	var at string
	var signatures [][]byte
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			at = value
		case "v1":
			if s, err := hex.DecodeString(value); err == nil {
				signatures = append(signatures, s)
			}
		}
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return errSignature
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(at + "."))
	mac.Write(payload)
	want := mac.Sum(nil)
	for _, s := range signatures {
		if hmac.Equal(s, want) { // in constant time
			return nil
		}
	}
	return errSignature
}
