package admin

import (
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/backups"
)

// Backups describes the backups that a server makes by itself.
type Backups struct {
	Dir          string `json:"dir"` // directory or address of a bucket; "": no backups are made
	EverySeconds int64  `json:"every_seconds"`
	Keep         int    `json:"keep"`
	Archives     int    `json:"archives"`  // how many exist
	Last         string `json:"last"`      // name of the newest; "": there is none
	LastAt       Time   `json:"last_at"`   // the moment whose data it holds
	Bytes        int64  `json:"bytes"`     // of the newest
	FailedAt     Time   `json:"failed_at"` // last failure since the newest archive; null: none
	Failure      string `json:"failure"`   // why
	Trouble      string `json:"trouble"`   // what an operator should look into; "": nothing
}

// viewBackups shows the backups of a schedule. A nil Schedule is that of a service without backups; for it viewBackups
// returns the zero Backups.
func viewBackups(s *backups.Schedule) Backups {
	b := s.State()
	return Backups{Dir: b.Dir, EverySeconds: int64(b.Every / time.Second), Keep: b.Keep, Archives: b.Archives, Last: b.Last.Name,
		LastAt: Time{b.Last.At}, Bytes: b.Last.Size, FailedAt: Time{b.FailedAt}, Failure: b.Failure, Trouble: s.Trouble()}
}
