package console

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

// A raw key that nobody asks for is forgotten within a minute, also where nothing else happens.
func TestUnseenKeysAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var u unseenKeys
		u.put([32]byte{1}, unseenKey{id: "key_1", raw: "img_live_1", since: time.Now()})
		time.Sleep(30 * time.Second)
		u.put([32]byte{2}, unseenKey{id: "key_2", raw: "img_live_2", since: time.Now()})
		time.Sleep(30 * time.Second)
		synctest.Wait()
		is.Equal(len(u.keys), 1)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		is.Equal(len(u.keys), 0)
	})
}
