package console

import (
	"archive/zip"
	"io"

	"github.com/imagegend/imagegend/imagegen"
)

// archive answers with a ZIP file of all images of one of the person's generations. Images are compressed already, so
// they are stored as they are: each is copied while it is sent, and none is held in memory. If an image cannot be read,
// the answer is cut off.
func (c *Console) archive(p *page) error {
	r, err := c.record(p)
	if err != nil {
		return err
	}
	g := r.Generation()
	if len(g.Images) == 0 {
		return imagegen.ErrNotFound
	}
	p.w.Header().Set("Content-Disposition", `attachment; filename="`+string(g.ID)+`.zip"`)
	z := zip.NewWriter(p.stream("application/zip"))
	for _, i := range pictures(g) {
		if err := c.pack(p, z, i); err != nil {
			return err
		}
	}
	return z.Close()
}

// pack appends an image to an archive.
func (c *Console) pack(p *page, z *zip.Writer, i picture) error {
	f, err := c.cfg.Engine.OpenImage(p.context(), i.ID)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := z.CreateHeader(&zip.FileHeader{Name: i.FileName, Method: zip.Store, Modified: i.CreatedAt})
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}
