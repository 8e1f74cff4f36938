import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Ordered relationships")
struct OrderedTests {
  private func stack(_ kind: StoreKind) throws -> CompanyStack { try CompanyStack(kind, model: MusicModel.model) }

  private func album(_ context: ManagedObjectContext, _ title: String = "Best") throws -> Album {
    try #require(try context.all(Album.self, .equal("title", .string(title))).first)
  }

  private func track(_ album: Album, _ title: String) throws -> Track {
    try #require(album.tracks.first { $0.title == title })
  }

  @Test("the order given is the order read", arguments: StoreKind.allCases)
  func roundTrip(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let writer = stack.context()
    let tracks = try ["c", "a", "b"].map { try writer.track($0) }
    let best = try writer.album("Best")
    best.tracks = [tracks[1], tracks[2], tracks[0]]
    #expect(best.titles == ["a", "b", "c"] && tracks[0].album == best)
    try writer.save()
    #expect(best.titles == ["a", "b", "c"])
    #expect(try album(stack.context()).titles == ["a", "b", "c"])
  }

  @Test(
    "an object added from its own end comes last, whether or not the set is read", arguments: StoreKind.allCases,
    [true, false])
  func appending(_ kind: StoreKind, readsBefore: Bool) throws {
    let stack = try stack(kind)
    let writer = stack.context()
    try writer.album("Best", ["a", "b"])
    try writer.album("Other", ["x", "y"])
    try writer.save()
    let context = stack.context()
    let (best, other) = (try album(context), try album(context, "Other"))
    if readsBefore { _ = (best.titles, other.titles) }
    let moved = try #require(try context.all(Track.self, .equal("title", .string("x"))).first)
    moved.album = best
    try context.track("z").album = best
    #expect(Set(best.titles) == ["a", "b", "x", "z"] && Array(best.titles.prefix(2)) == ["a", "b"])
    let titles = best.titles
    #expect(other.titles == ["y"])
    try context.save()
    #expect(try album(stack.context()).titles == titles)
    #expect(try album(stack.context(), "Other").titles == ["y"])
  }

  @Test("an object comes last in an unread set, save by save", arguments: StoreKind.allCases)
  func unread(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let writer = stack.context()
    let best = try writer.album("Best", ["b", "a"])
    try writer.save()
    for title in ["z", "y", "x"] {
      let late = stack.context()
      try late.track(title).album = late.object(with: best.objectID) as? Album
      try late.save()
    }
    #expect(try album(stack.context()).titles == ["b", "a", "z", "y", "x"])
  }

  @Test("objects are inserted, moved, replaced and taken out by their place", arguments: StoreKind.allCases)
  func editing(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let writer = stack.context()
    try writer.album("Best", ["a", "b", "c", "d", "e"])
    try writer.save()
    let context = stack.context()
    let best = try album(context)
    best.moveObjects(at: [3, 4], to: 1, in: 1)
    #expect(best.titles == ["a", "d", "e", "b", "c"])
    best.insert(try track(best, "c"), at: 0, in: 1)
    #expect(best.titles == ["c", "a", "d", "e", "b"])
    let new = try context.track("n")
    let old = try track(best, "a")
    best.replaceObject(at: 1, with: new, in: 1)
    #expect(best.titles == ["c", "n", "d", "e", "b"] && old.album == nil && new.album == best)
    best.replaceObject(at: 0, with: try track(best, "b"), in: 1)
    #expect(best.titles == ["b", "n", "d", "e"])
    best.removeObject(at: 2, in: 1)
    #expect(best.titles == ["b", "n", "e"])
    try context.save()
    #expect(try album(stack.context()).titles == ["b", "n", "e"])
  }

  @Test("an order that alone has changed is saved, and rolled back", arguments: StoreKind.allCases)
  func orderAlone(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let writer = stack.context()
    let best = try writer.album("Best", ["a", "b", "c"])
    try writer.save()
    best.moveObjects(at: [2], to: 0, in: 1)
    #expect(best.isUpdated && best.changedValues().keys.sorted() == ["tracks"])
    writer.rollback()
    #expect(best.titles == ["a", "b", "c"] && !best.hasChanges)
    best.moveObjects(at: [2], to: 0, in: 1)
    try writer.save()
    #expect(try album(stack.context()).titles == ["c", "a", "b"])
    best.moveObjects(at: [2], to: 0, in: 1)
    writer.refresh(best, mergeChanges: true)
    #expect(best.titles == ["b", "c", "a"])
    writer.refresh(best, mergeChanges: false)
    #expect(best.titles == ["c", "a", "b"])
  }

  @Test("many-to-many is ordered at both ends, each for itself", arguments: StoreKind.allCases)
  func manyToMany(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let writer = stack.context()
    let (one, two) = (try writer.album("One"), try writer.album("Two"))
    let (ada, bob) = (try writer.artist("Ada"), try writer.artist("Bob"))
    one.artists = [bob, ada]
    two.artists = [ada, bob]
    ada.albums = [two, one]
    #expect(bob.albums == [one, two])
    bob.peers = [ada]
    try writer.save()
    let reader = stack.context()
    #expect(try album(reader, "One").artists.map(\.name) == ["Bob", "Ada"])
    #expect(try album(reader, "Two").artists.map(\.name) == ["Ada", "Bob"])
    #expect(try reader.named("Ada", Artist.self)?.albums.map(\.title) == ["Two", "One"])
    #expect(try reader.named("Bob", Artist.self)?.albums.map(\.title) == ["One", "Two"])
    #expect(try reader.named("Ada", Artist.self)?.peers.map(\.name) == ["Bob"])
    try #require(try reader.named("Ada", Artist.self)).albums.reverse()
    try album(reader, "One").removeObject(at: 0, in: 2)
    try reader.save()
    #expect(try stack.context().named("Ada", Artist.self)?.albums.map(\.title) == ["One", "Two"])
    #expect(try stack.context().named("Bob", Artist.self)?.albums.map(\.title) == ["Two"])
  }

  @Test("one end ordered, and no other end at all", arguments: StoreKind.allCases)
  func oneEnd(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let writer = stack.context()
    let best = try writer.album("Best", ["a", "b", "c"])
    let list = try writer.insert(Playlist.self)
    list.tracks = OrderedSet(best.tracks.reversed())
    list.covers = [try writer.album("Two"), best]
    try writer.track("z").playlists = [list]
    try writer.save()
    let read = try #require(try stack.context().all(Playlist.self).first)
    #expect(read.tracks.map(\.title) == ["c", "b", "a", "z"] && read.covers.map(\.title) == ["Two", "Best"])
  }

  @Test("a deleted object leaves its place", arguments: StoreKind.allCases)
  func deleting(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let writer = stack.context()
    let best = try writer.album("Best", ["a", "b", "c"])
    let list = try writer.insert(Playlist.self)
    list.tracks = best.tracks
    try writer.save()
    writer.delete(best.tracks[1])
    try writer.save()
    #expect(best.titles == ["a", "c"] && list.tracks.map(\.title) == ["a", "c"])
    let reader = stack.context()
    #expect(try album(reader).titles == ["a", "c"])
    reader.delete(try album(reader))
    try reader.save()
    #expect(try stack.context().all(Track.self).isEmpty && stack.context().all(Playlist.self)[0].tracks.isEmpty)
  }

  @Test("other contexts take on the order with a merge, unless they have changed it", arguments: StoreKind.allCases)
  func merging(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let writer = stack.context()
    let best = try writer.album("Best", ["a", "b", "c"])
    try writer.save()
    let (clean, changed) = (stack.context(), stack.context())
    let (cleanAlbum, changedAlbum) = (try album(clean), try album(changed))
    _ = (cleanAlbum.titles, changedAlbum.titles)
    changedAlbum.moveObjects(at: [2], to: 1, in: 1)
    best.moveObjects(at: [2], to: 0, in: 1)
    best.removeObject(at: 2, in: 1)
    try writer.track("d").album = best
    let save = try #require(try writer.saveAndTell())
    for context in [clean, changed] { context.mergeChanges(fromContextDidSave: save) }
    #expect(cleanAlbum.titles == ["c", "a", "d"] && !cleanAlbum.hasChanges)
    #expect(changedAlbum.titles == ["a", "c", "d"], "its own order, and who came and went")
    try changed.save()
    #expect(try album(stack.context()).titles == changedAlbum.titles)
  }

  @Test("a child's order goes up with its save", arguments: StoreKind.allCases)
  func children(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let parent = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let id = try parent.performAndWait { parent in
      let best = try parent.album("Best", ["a", "b", "c"])
      try parent.save()
      return best.objectID
    }
    let child = ManagedObjectContext(.confinement, parent: parent)
    let best = try #require(child.object(with: id) as? Album)
    #expect(best.titles == ["a", "b", "c"])
    best.insert(try child.track("n"), at: 1, in: 1)
    best.moveObjects(at: [3], to: 0, in: 1)
    let second = try child.album("Two", ["z", "y"]).objectID
    try child.save()
    try parent.performAndWait { parent in
      #expect((parent.object(with: id) as? Album)?.titles == ["c", "a", "n", "b"])
      #expect((parent.object(with: second) as? Album)?.titles == ["z", "y"])
      try parent.save()
    }
    #expect(try album(stack.context()).titles == ["c", "a", "n", "b"])
    #expect(try album(stack.context(), "Two").titles == ["z", "y"])
  }

  @Test("by name: an ordered value is taken in its order, an unordered one is appended")
  func byName() throws {
    let context = try stack(.inMemory).context()
    let best = try context.album("Best", ["a", "b"])
    let (a, b) = (best.tracks[0], best.tracks[1])
    let c = try context.track("c")
    #expect(best.value(forKey: "tracks") == .orderedObjects([a.objectID, b.objectID]))
    try best.setValue(.orderedObjects([c.objectID, a.objectID]), forKey: "tracks")
    #expect(best.titles == ["c", "a"])
    try best.setValue(.objects([a.objectID, b.objectID, c.objectID]), forKey: "tracks")
    #expect(best.titles == ["c", "a", "b"])
    #expect(throws: ManagedObjectError.self) { try best.setValue(.orderedObjects([best.objectID]), forKey: "tracks") }
  }

  @Test("a mutable ordered set shows what the object holds, and changes it")
  func mutableSet() throws {
    let stack = try stack(.inMemory)
    let context = stack.context()
    let best = try context.album("Best", ["a", "b"])
    let tracks = try #require(best.mutableOrderedSetValue(forKey: "tracks"))
    let c = try context.track("c")
    tracks.insert(c, at: 1)
    tracks.moveObjects(at: [2], to: 0)
    #expect(tracks.map { ($0 as? Track)?.title } == ["b", "a", "c"] && best.titles == ["b", "a", "c"])
    #expect(tracks.firstIndex(of: c) == 2 && tracks.contains(c))
    tracks.remove(c)
    #expect(c.album == nil && !tracks.contains(c))
    tracks.add(c)
    tracks.removeObject(at: 0)
    #expect(best.titles == ["a", "c"])
    tracks.removeAllObjects()
    #expect(tracks.isEmpty && best.tracks.isEmpty)
    #expect(best.mutableOrderedSetValue(forKey: "title") == nil)
  }

  @Test("a relationship with more objects than the model allows fails validation", arguments: StoreKind.allCases)
  func validation(_ kind: StoreKind) throws {
    let context = try stack(kind).context()
    let best = try context.album("Best")
    best.artists = try OrderedSet((0..<6).map { try context.artist("A\($0)") })
    #expect(throws: ManagedObjectError.self) { try context.save() }
    best.removeObject(at: 0, in: 2)
    try context.save()
  }
}
