package main

// reading reads what is there.
type reading struct {
	name string
	what func(*process) (theirs, ours string)
}

var (
	known    = reading{"GET of a generation", func(p *process) (string, string) { return p.known, p.known }}
	download = reading{"GET of an image, " + photo.name, func(p *process) (string, string) { return p.image, p.image }}
	models   = reading{"GET of the models, against an empty handler", func(*process) (string, string) {
		return "/empty", "/api/v1/models"
	}}
)

const readers = 64

func (r reading) against(t target) row {
	return contest(r.name+", 64 at once", targets{reference: t}, r.ours, r.theirs)
}

func (r reading) ours(b *bench) (side, error) {
	p, err := b.service(work{picture: photo})
	if err != nil {
		return side{}, err
	}
	if err := p.makeOne(photo.edge); err != nil {
		p.stop()
		return side{}, err
	}
	_, path := r.what(p)
	return side{p, p.get(path, readers)}, nil
}

func (r reading) theirs(b *bench) (side, error) {
	p, err := b.reference(work{picture: photo})
	if err != nil {
		return side{}, err
	}
	path, _ := r.what(p)
	return side{p, p.get(path, readers)}, nil
}
