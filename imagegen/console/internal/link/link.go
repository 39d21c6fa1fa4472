// Package link makes links that work once, until they expire. Only the hash of a link's token is stored.
package link

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// NewToken returns 256 random bits for a cookie or a link, and the hash to store. A plain SHA-256 is enough, since
// nobody can guess the bits; and somebody who reads the store cannot sign in with what they find.
func NewToken() (token string, hash [32]byte) {
	var secret [32]byte
	rand.Read(secret[:]) // never fails
	token = base64.RawURLEncoding.EncodeToString(secret[:])
	return token, InvitationHash(token)
}

// InvitationHash hashes the token of an invitation or of a set-up.
func InvitationHash(token string) [32]byte { return sha256.Sum256([]byte(token)) }

// SignInHash hashes the token of a sign-in link. The prefix keeps the kinds of link apart: an invitation's token used
// as a sign-in link finds nothing, and the other way round.
func SignInHash(token string) [32]byte { return sha256.Sum256([]byte("entry " + token)) }

// Invitation makes the link of console.InvitationLink.
func Invitation(ctx context.Context, logins account.LoginStore, u imagegen.UserID, role account.Role,
	expires time.Time) (path string, err error) {
	return Store(ctx, logins, "invitation/", InvitationHash,
		account.Invitation{User: u, Role: role, ExpiresAt: expires})
}

// Store stores an invitation under the hash of a new token and returns the path of its link, which begins with below.
func Store(ctx context.Context, logins account.LoginStore, below string, hash func(token string) [32]byte,
	i account.Invitation) (path string, err error) {
	token, _ := NewToken()
	i.Hash = hash(token)
	if err := logins.CreateInvitation(ctx, i); err != nil {
		return "", err
	}
	return below + token, nil
}
