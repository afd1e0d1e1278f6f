//go:build linux

package main

import (
	"context"
	"maps"
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"boon.example/internal/store"
)

// folder is the only folder of a disk, as the kernel sees it.
type folder struct {
	fs.Inode
	*disk
}

// node is a file of a disk, as the kernel sees it.
type node struct {
	fs.Inode
	*disk
	*file
	name string // under which it was first found
}

func (r *folder) child(ctx context.Context, name string, f *file, out *fuse.EntryOut) *fs.Inode {
	out.Mode, out.Size, out.Ino, out.Nlink = f.mode, uint64(len(f.now)), f.number, 1
	return r.NewInode(ctx, &node{disk: r.disk, file: f, name: name}, fs.StableAttr{Mode: syscall.S_IFREG, Ino: f.number})
}

// Getattr implements fs.NodeGetattrer.
func (r *folder) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode = 0o700
	return 0
}

// Lookup implements fs.NodeLookuper.
func (r *folder) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.names[name]
	if f == nil {
		return nil, syscall.ENOENT
	}
	return r.child(ctx, name, f, out), 0
}

// Readdir implements fs.NodeReaddirer.
func (r *folder) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []fuse.DirEntry
	for _, name := range slices.Sorted(maps.Keys(r.names)) {
		list = append(list, fuse.DirEntry{Name: name, Mode: syscall.S_IFREG, Ino: r.names[name].number})
	}
	return fs.NewListDirStream(list), 0
}

// move changes what a name leads to.
func (r *folder) move(name string, to *file) {
	set(r.names, name, to)
	r.moves = append(r.moves, move{name, to})
}

// Create implements fs.NodeCreater.
func (r *folder) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode,
	fs.FileHandle, uint32, syscall.Errno) {
	if errno := r.enter(ctx, renaming, name); errno != 0 {
		return nil, nil, 0, errno
	}
	defer r.mu.Unlock()
	f := r.names[name]
	switch {
	case f != nil && flags&syscall.O_EXCL != 0:
		return nil, nil, 0, syscall.EEXIST
	case f == nil:
		r.files++
		f = &file{number: r.files + 1, mode: mode & 0o7777}
		r.move(name, f)
	}
	return r.child(ctx, name, f, out), nil, uncached(name), 0
}

// uncached has the kernel keep nothing of the files that hold money, so that every read of theirs is a step of the
// disk. It could not map them then, as SQLite does with -shm.
func uncached(name string) uint32 {
	if database(name) {
		return fuse.FOPEN_DIRECT_IO
	}
	return 0
}

// database tells the files that hold money from those that only help: -shm is made anew at every start.
func database(name string) bool { return name == store.DatabaseName || name == logName }

// Unlink implements fs.NodeUnlinker.
func (r *folder) Unlink(ctx context.Context, name string) syscall.Errno {
	if errno := r.enter(ctx, renaming, name); errno != 0 {
		return errno
	}
	defer r.mu.Unlock()
	r.move(name, nil)
	return 0
}

// Rename implements fs.NodeRenamer.
func (r *folder) Rename(ctx context.Context, name string, _ fs.InodeEmbedder, to string, _ uint32) syscall.Errno {
	if errno := r.enter(ctx, renaming, name); errno != 0 {
		return errno
	}
	defer r.mu.Unlock()
	f := r.names[name]
	r.move(to, f)
	r.move(name, nil)
	return 0
}

// Link implements fs.NodeLinker.
func (r *folder) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode,
	syscall.Errno) {
	if errno := r.enter(ctx, renaming, name); errno != 0 {
		return nil, errno
	}
	defer r.mu.Unlock()
	if r.names[name] != nil {
		return nil, syscall.EEXIST
	}
	f := target.(*node).file
	r.move(name, f)
	return r.child(ctx, name, f, out), 0
}

// Fsync implements fs.NodeFsyncer.
func (r *folder) Fsync(ctx context.Context, _ fs.FileHandle, _ uint32) syscall.Errno {
	if errno := r.enter(ctx, syncing, "."); errno != 0 {
		return errno
	}
	defer r.mu.Unlock()
	if errno := r.fault(syncing, "."); errno != 0 {
		return errno
	}
	for _, m := range r.moves {
		set(r.kept, m.name, m.to)
	}
	r.moves = nil
	return 0
}

// Statfs implements fs.NodeStatfser.
func (r *folder) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	out.Bsize, out.Blocks, out.Bfree, out.Bavail, out.NameLen = 4096, 1<<20, 1<<19, 1<<19, 255
	return 0
}

// Open implements fs.NodeOpener.
func (n *node) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if flags&syscall.O_TRUNC != 0 {
		if errno := n.enter(ctx, writing, n.name); errno != 0 {
			return nil, 0, errno
		}
		defer n.mu.Unlock()
		return nil, uncached(n.name), n.write(n.file, change{})
	}
	return nil, uncached(n.name), 0
}

// Getattr implements fs.NodeGetattrer.
func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.mu.Lock()
	defer n.mu.Unlock()
	out.Mode, out.Size, out.Nlink = n.mode, uint64(len(n.now)), 1
	return 0
}

// Setattr implements fs.NodeSetattrer.
func (n *node) Setattr(ctx context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if errno := n.enter(ctx, writing, n.name); errno != 0 {
		return errno
	}
	defer n.mu.Unlock()
	if mode, given := in.GetMode(); given {
		n.mode = mode & 0o7777
	}
	if size, given := in.GetSize(); given {
		if errno := n.write(n.file, change{at: int64(size)}); errno != 0 {
			return errno
		}
	}
	out.Mode, out.Size, out.Nlink = n.mode, uint64(len(n.now)), 1
	return 0
}

// Read implements fs.NodeReader.
func (n *node) Read(ctx context.Context, _ fs.FileHandle, into []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	if errno := n.enter(ctx, reading, n.name); errno != 0 {
		return nil, errno
	}
	defer n.mu.Unlock()
	at = min(at, int64(len(n.now)))
	return fuse.ReadResultData(into[:copy(into, n.now[at:])]), 0
}

// Write implements fs.NodeWriter.
func (n *node) Write(ctx context.Context, _ fs.FileHandle, data []byte, at int64) (uint32, syscall.Errno) {
	if errno := n.enter(ctx, writing, n.name); errno != 0 {
		return 0, errno
	}
	defer n.mu.Unlock()
	if errno := n.write(n.file, change{at, slices.Clone(data)}); errno != 0 {
		return 0, errno
	}
	return uint32(len(data)), 0
}

// Allocate implements fs.NodeAllocater.
func (n *node) Allocate(ctx context.Context, _ fs.FileHandle, at, size uint64, _ uint32) syscall.Errno {
	if errno := n.enter(ctx, writing, n.name); errno != 0 {
		return errno
	}
	defer n.mu.Unlock()
	if end := int64(at + size); end > int64(len(n.now)) {
		return n.write(n.file, change{at: end})
	}
	return 0
}

// Fsync implements fs.NodeFsyncer.
func (n *node) Fsync(ctx context.Context, _ fs.FileHandle, _ uint32) syscall.Errno {
	if errno := n.enter(ctx, syncing, n.name); errno != 0 {
		return errno
	}
	defer n.mu.Unlock()
	return n.sync(n.file, n.name)
}
