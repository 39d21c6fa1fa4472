package httpapi

import (
	"net/http"
	"time"

	"github.com/imagegend/imagegend/internal/httpguard"
)

// NewServer returns a server for h with suitable limits: 10 seconds for a header of at most 32 KiB,
// and two minutes between requests. It sets no ReadTimeout and no WriteTimeout: either would
// interrupt generations and uploads, and the handler sets deadlines of its own. Set Addr before you
// listen.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           httpguard.Around(h),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
	}
}
