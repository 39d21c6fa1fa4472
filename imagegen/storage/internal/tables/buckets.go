package tables

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// The buckets. A generation is an intent, which is written once, and a progress, which lies in the
// bucket of its phase: so what is open is found without a scan of the past, and no index is needed.
const (
	intents  kv.Bucket = "generations.intents"  // generation → intent
	open     kv.Bucket = "generations.open"     // generation → progress
	ended    kv.Bucket = "generations.ended"    // generation → progress, there to be read
	erased   kv.Bucket = "generations.erased"   // generation → progress, a skeleton for the books
	disputed kv.Bucket = "generations.disputed" // generation
	listed   kv.Bucket = "generations.listed"   // user, status, generation
	reserved kv.Bucket = "generations.reserved" // user, hash of the idempotency key → generation

	prompts kv.Bucket = "generations.prompts" // end, generation that failed and whose prompt is there
	hashes  kv.Bucket = "generations.hashes"  // end, generation that was erased and whose idempotency key's hash is there

	undelivered kv.Bucket = "generations.undelivered" // user, JoinKey, generation

	due     kv.Bucket = "queue.due"     // user, model, whether it is fresh, generation
	delayed kv.Bucket = "queue.delayed" // time, generation
	turns   kv.Bucket = "queue.turns"   // user with work that is due → turn
	ring    kv.Bucket = "queue.ring"    // model, turn → user with work of that model that is due

	users     kv.Bucket = "users"       // user → user
	userNames kv.Bucket = "users.names" // name → user

	keys     kv.Bucket = "keys"       // hash → key
	keyIDs   kv.Bucket = "keys.ids"   // key → hash
	userKeys kv.Bucket = "keys.users" // user, key → hash
	keyUse   kv.Bucket = "keys.used"  // key → when it was last used

	logins          kv.Bucket = "logins"                   // user → login
	signIns         kv.Bucket = "logins.signins"           // hash → sign-in
	userSignIns     kv.Bucket = "logins.signins.users"     // user, hash
	invitations     kv.Bucket = "logins.invitations"       // hash → invitation
	userInvitations kv.Bucket = "logins.invitations.users" // user → hash
)

var present = []byte{1} // the value where the key says everything

// phase is where the progress of a generation in this state lies.
func phase(s imagegen.State) kv.Bucket {
	switch s {
	case imagegen.StateGone:
		return ""
	case imagegen.StateSucceeded, imagegen.StateFailed:
		return ended
	case imagegen.StateErased:
		return erased
	}
	return open
}

// statusByte stands for a status in the list's keys.
func statusByte(s imagegen.Status) byte {
	switch s {
	case imagegen.StatusQueued:
		return 1
	case imagegen.StatusProcessing:
		return 2
	case imagegen.StatusSucceeded:
		return 3
	case imagegen.StatusFailed:
		return 4
	}
	return 0
}

func listKey(u imagegen.UserID, s imagegen.Status, id imagegen.GenerationID) []byte {
	return kv.Key(string(u), statusByte(s), []byte(id))
}

// reservedKey has the key's hash: more is not left after an erasure.
func reservedKey(u imagegen.UserID, key string) []byte {
	hash := imagegen.IdempotencyHash(key)
	return kv.Key(string(u), hash[:])
}

// dueKey has work that was begun before ahead of fresh work of the same user and model.
func dueKey(r row) []byte {
	fresh := byte(0)
	if r.Attempt == 0 {
		fresh = 1
	}
	return kv.Key(string(r.User), r.Model, fresh, []byte(r.ID))
}

func undeliveredKey(u imagegen.UserID, joinKey [32]byte, id imagegen.GenerationID) []byte {
	return kv.Key(string(u), joinKey[:], []byte(id))
}

// timedKey is that of delayed, prompts and hashes.
func timedKey(at time.Time, id imagegen.GenerationID) []byte {
	return kv.Key(kv.TimeKey(at), []byte(id))
}

const timeLength = 8 // of what precedes the generation in such a key

func timeOf(key []byte) (at uint64, id imagegen.GenerationID) {
	return binary.BigEndian.Uint64(key), imagegen.GenerationID(key[timeLength:])
}

// afterUser is what follows the user in a key that begins with one, and a byte more.
func afterUser(key []byte) imagegen.GenerationID {
	_, rest, _ := bytes.Cut(key, []byte{0})
	return imagegen.GenerationID(rest[min(1, len(rest)):])
}

// ofDue is what a key of due says.
func ofDue(key []byte) (user, model []byte, fresh bool, id imagegen.GenerationID) {
	user, rest, _ := bytes.Cut(key, []byte{0})
	model, rest, _ = bytes.Cut(rest, []byte{0})
	return user, model, len(rest) > 0 && rest[0] != 0, imagegen.GenerationID(rest[min(1, len(rest)):])
}
