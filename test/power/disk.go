//go:build linux

package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"boon.example/internal/store"
)

// disk is a file system of one folder that keeps apart what is on the medium and what only looks as if it were. What
// was written is lost in a power cut until its file was synced; what was created, renamed or removed, until the folder
// was. It can fail, be full, and stop.
type disk struct {
	mu     sync.Mutex
	lot    *rand.Rand
	names  map[string]*file // as programs see them
	kept   map[string]*file // on the medium
	moves  []move           // between the two
	files  uint64           // that were ever made
	mount  string
	server *fuse.Server
	fail   func(what step, name string) syscall.Errno // nil: nothing fails
	lie    bool                                       // a sync that fails took effect
	// a sync of the write-ahead log does nothing until the log is copied back
	forgetful bool
	room      int64                             // bytes that fit; 0: no end of them
	freeze    func(what step, name string) bool // true: the power goes before this step; nil: it stays
	cut       chan struct{}                     // closed when the power is gone: every step waits
	dead      chan struct{}                     // closed when no process is left: every step fails
	dropped   int                               // writes that no cut spared
}

// logName is the write-ahead log of the database.
const logName = store.DatabaseName + "-wal"

// step is what is asked of the disk.
type step string

const (
	reading  step = "read"
	writing  step = "write" // truncating and allocating, too
	syncing  step = "sync"
	renaming step = "rename" // creating, linking and removing, too
)

// file is a file, under whatever names.
type file struct {
	number   uint64
	mode     uint32
	now      []byte   // as programs see it
	kept     []byte   // on the medium
	unsynced []change // between the two
}

// change is a write at an offset or, when data is nil, a new size.
type change struct {
	at   int64
	data []byte
}

// move is a name that leads to another file; nil: to none.
type move struct {
	name string
	to   *file
}

func (f *file) apply(to []byte, c change) []byte {
	end := c.at + int64(len(c.data))
	if c.data == nil && end < int64(len(to)) {
		return to[:end]
	}
	for int64(len(to)) < end {
		to = append(to, make([]byte, end-int64(len(to)))...)
	}
	copy(to[c.at:], c.data)
	return to
}

func newDisk(mount string, seed uint64) *disk {
	return &disk{mount: mount, lot: rand.New(rand.NewPCG(seed, 7)), names: map[string]*file{}, kept: map[string]*file{}}
}

// plug mounts the disk.
func (d *disk) plug() (err error) {
	d.cut, d.dead, d.freeze = make(chan struct{}), make(chan struct{}), nil
	d.server, err = fs.Mount(d.mount, &folder{disk: d}, &fs.Options{NullPermissions: true,
		MountOptions: fuse.MountOptions{DirectMount: true, FsName: "boon-power", Name: "boon", DisableXAttrs: true}})
	if err != nil {
		return fmt.Errorf("mounting a file system of our own: %w", err)
	}
	return nil
}

// unplug takes the disk away. No process may have it open.
func (d *disk) unplug() error {
	d.halt(d.dead)
	return d.server.Unmount()
}

// halt closes one of the channels, once.
func (d *disk) halt(c chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-c:
	default:
		close(c)
	}
}

// powerOff stops everything: from now on no step is done.
func (d *disk) powerOff() { d.halt(d.cut) }

// enter lets a step happen, under the lock, or says why not.
func (d *disk) enter(ctx context.Context, what step, name string) syscall.Errno {
	d.mu.Lock()
	if d.freeze != nil && d.freeze(what, name) {
		d.freeze = nil
		select {
		case <-d.cut:
		default:
			close(d.cut)
		}
	}
	select {
	case <-d.cut:
		d.mu.Unlock()
		select {
		case <-d.dead:
		case <-ctx.Done():
		}
		return syscall.EIO
	default:
	}
	if errno := d.fault(what, name); errno != 0 && what != syncing {
		d.mu.Unlock()
		return errno
	}
	return 0
}

func (d *disk) fault(what step, name string) syscall.Errno {
	if d.fail == nil {
		return 0
	}
	return d.fail(what, name)
}

// sync puts a file on the medium. When that fails, what was to be synced never will be, as on a real system: unless the
// failure is a lie.
func (d *disk) sync(f *file, name string) syscall.Errno {
	if d.forgetful && name == logName {
		return 0
	}
	errno := d.fault(syncing, name)
	if errno == 0 || d.lie {
		f.putDown()
	}
	f.unsynced = nil
	return errno
}

func (f *file) putDown() {
	for _, c := range f.unsynced {
		f.kept = f.apply(f.kept, c)
	}
}

// lose is what a power cut does to what was not synced: each file, and the folder, loses all of it, or some, in a way
// left to chance.
func (d *disk) lose() {
	var all []*file
	for _, named := range []map[string]*file{d.names, d.kept} {
		for _, name := range slices.Sorted(maps.Keys(named)) {
			if f := named[name]; !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	for _, f := range all {
		d.tear(f)
	}
	spare := d.lot.IntN(3) // none, some or all
	for _, m := range d.moves {
		if spare == 2 || spare == 1 && d.lot.IntN(2) == 0 {
			set(d.kept, m.name, m.to)
		}
	}
	d.moves, d.names = nil, maps.Clone(d.kept)
}

func set(names map[string]*file, name string, to *file) {
	if to == nil {
		delete(names, name)
	} else {
		names[name] = to
	}
}

// tear decides what a cut leaves of the unsynced changes of a file: nothing, everything, the first of them, some of
// them, or some of the sectors of them.
func (d *disk) tear(f *file) {
	how, first := d.lot.IntN(6), 0
	if how == 2 {
		first = d.lot.IntN(len(f.unsynced) + 1)
	}
	for n, c := range f.unsynced {
		spared := how == 1 || how == 2 && n < first || how >= 3 && d.lot.IntN(2) == 0
		switch {
		case c.data != nil && how >= 4:
			d.sectors(f, c, []int64{512, 4096}[how-4])
		case spared:
			f.kept = f.apply(f.kept, c)
		default:
			d.dropped++
		}
	}
	f.unsynced, f.now = nil, slices.Clone(f.kept)
}

// sectors spares some sectors of a write.
func (d *disk) sectors(f *file, c change, size int64) {
	for at, end := c.at, c.at+int64(len(c.data)); at < end; {
		next := min(end, (at/size+1)*size)
		if d.lot.IntN(2) == 0 {
			f.kept = f.apply(f.kept, change{at, c.data[at-c.at : next-c.at]})
		} else {
			d.dropped++
		}
		at = next
	}
}

// used is how many bytes the files have.
func (d *disk) used() (n int64) {
	for _, f := range d.names {
		n += int64(len(f.now))
	}
	return n
}

// write changes a file, if there is room.
func (d *disk) write(f *file, c change) syscall.Errno {
	if grown := c.at + int64(len(c.data)) - int64(len(f.now)); d.room > 0 && grown > 0 && d.used()+grown > d.room {
		return syscall.ENOSPC
	}
	if log := d.names[logName]; d.forgetful && log != nil && f == d.names[store.DatabaseName] {
		log.putDown() // before it is copied back: what is forgotten is the syncs of commits only
		log.unsynced = nil
	}
	f.now = f.apply(f.now, c)
	f.unsynced = append(f.unsynced, c)
	return 0
}

// breakDown has steps fail until it is called with nil.
func (d *disk) breakDown(fail func(what step, name string) syscall.Errno, lie bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail, d.lie = fail, lie
}

// fill leaves room for so many bytes more; negative: no end of them.
func (d *disk) fill(more int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = 0
	if more >= 0 {
		d.room = d.used() + more + 1
	}
}

// cutAt has the power go before a step of its choice.
func (d *disk) cutAt(freeze func(what step, name string) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.freeze = freeze
}

// available tells whether this machine lets us mount file systems of our own.
func available() error {
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	f.Close()
	dir, err := os.MkdirTemp("", "boon-power-")
	if err != nil {
		return err
	}
	defer os.Remove(dir)
	d := newDisk(dir, 0)
	if err := d.plug(); err != nil {
		return err
	}
	return d.unplug()
}
