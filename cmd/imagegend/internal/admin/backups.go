package admin

import (
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/backups"
)

// Backups tells of the backups that a server makes of its own accord.
type Backups struct {
	Dir          string `json:"dir"` // or the address of a bucket; "": none are made
	EverySeconds int64  `json:"every_seconds"`
	Keep         int    `json:"keep"`
	Archives     int    `json:"archives"`  // that there are
	Last         string `json:"last"`      // the name of the newest; "": there is none
	LastAt       Time   `json:"last_at"`   // the moment that it is of
	Bytes        int64  `json:"bytes"`     // of the newest
	FailedAt     Time   `json:"failed_at"` // since the newest, the last one that failed
	Failure      string `json:"failure"`   // why
	Trouble      string `json:"trouble"`   // what an operator should see to; "": nothing
}

func viewBackups(s *backups.Schedule) Backups {
	b := s.State()
	return Backups{Dir: b.Dir, EverySeconds: int64(b.Every / time.Second), Keep: b.Keep, Archives: b.Archives, Last: b.Last.Name,
		LastAt: Time{b.Last.At}, Bytes: b.Last.Size, FailedAt: Time{b.FailedAt}, Failure: b.Failure, Trouble: s.Trouble()}
}
