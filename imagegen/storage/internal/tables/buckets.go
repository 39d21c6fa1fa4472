package tables

import (
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
	listed   kv.Bucket = "generations.listed"   // user, status, generation
	reserved kv.Bucket = "generations.reserved" // user, idempotency key → generation

	due     kv.Bucket = "queue.due"     // turn, generation
	delayed kv.Bucket = "queue.delayed" // time, generation
	turns   kv.Bucket = "queue.turns"   // user → the user's latest turn, if it is not yet served
	served  kv.Bucket = "queue.served"  // lastServed → turn

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

var (
	present    = []byte{1} // the value where the key says everything
	lastServed = []byte("last")
)

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

func reservedKey(u imagegen.UserID, key string) []byte { return kv.Key(string(u), key) }

func dueKey(turn uint64, id imagegen.GenerationID) []byte { return kv.Key(turn, []byte(id)) }

func delayedKey(at time.Time, id imagegen.GenerationID) []byte {
	return kv.Key(kv.TimeKey(at), []byte(id))
}

const seatLength = 8 // of what precedes the generation in the keys of due and delayed

func seatOf(key []byte) (uint64, imagegen.GenerationID) {
	return binary.BigEndian.Uint64(key), imagegen.GenerationID(key[seatLength:])
}

func putUint(tx kv.Tx, b kv.Bucket, key []byte, v uint64) {
	tx.Put(b, key, binary.BigEndian.AppendUint64(nil, v))
}

// getUint returns 0 if there is none.
func getUint(tx kv.Tx, b kv.Bucket, key []byte) uint64 {
	v := tx.Get(b, key)
	if len(v) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(v)
}
