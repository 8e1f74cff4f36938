package import ManagedObjects

/// A model with ordered relationships of every kind.
///
/// - one-to-many: `Album.tracks`, `Track.album`; `Single` is a `Track`;
/// - many-to-many, ordered at both ends: `Album.artists`, `Artist.albums`; at one end: `Playlist.tracks`,
///   `Track.playlists`; with itself: `Artist.peers`; without an inverse: `Playlist.covers`.
package enum MusicModel {
  package static let model: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(
        entities: definitions,
        classes: [
          "Album": Album.self, "Track": Track.self, "Single": Single.self, "Artist": Artist.self,
          "Playlist": Playlist.self,
        ])
    } catch {
      preconditionFailure("the test's model doesn't fit together: \(error)")
    }
  }()

  private static let definitions: [EntityDefinition] = [
    EntityDefinition(
      "Album", attributes: [AttributeDefinition("title", .string)],
      relationships: [
        RelationshipDefinition(
          "tracks", to: "Track", inverse: "album", isToMany: true, isOrdered: true, deleteRule: .cascade),
        RelationshipDefinition(
          "artists", to: "Artist", inverse: "albums", isToMany: true, isOrdered: true, maximumCount: 5),
      ]),
    EntityDefinition(
      "Track", attributes: [AttributeDefinition("title", .string)],
      relationships: [
        RelationshipDefinition("album", to: "Album", inverse: "tracks"),
        RelationshipDefinition("playlists", to: "Playlist", inverse: "tracks", isToMany: true),
      ]),
    EntityDefinition("Single", parent: "Track"),
    EntityDefinition(
      "Artist", attributes: [AttributeDefinition("name", .string)],
      relationships: [
        RelationshipDefinition("albums", to: "Album", inverse: "artists", isToMany: true, isOrdered: true),
        RelationshipDefinition("peers", to: "Artist", inverse: "peers", isToMany: true, isOrdered: true),
      ]),
    EntityDefinition(
      "Playlist", attributes: [AttributeDefinition("name", .string)],
      relationships: [
        RelationshipDefinition("tracks", to: "Track", inverse: "playlists", isToMany: true, isOrdered: true),
        RelationshipDefinition("covers", to: "Album", isToMany: true, isOrdered: true),
      ]),
  ]
}

package final class Album: ManagedObject {
  override package class var propertyNames: [String]? { ["title", "tracks", "artists"] }
  package var title: String? {
    get { self[0] }
    set { self[0] = newValue }
  }
  package var tracks: OrderedSet<Track> {
    get { orderedObjects(1) }
    set { setOrderedObjects(newValue, 1) }
  }
  package var artists: OrderedSet<Artist> {
    get { orderedObjects(2) }
    set { setOrderedObjects(newValue, 2) }
  }
  /// The titles of its tracks, in their order.
  package var titles: [String] { tracks.map { $0.title ?? "" } }
}

package class Track: ManagedObject {
  override package class var propertyNames: [String]? { ["title", "album", "playlists"] }
  package var title: String? {
    get { self[0] }
    set { self[0] = newValue }
  }
  package var album: Album? {
    get { object(1) }
    set { setObject(newValue, 1) }
  }
  package var playlists: Set<Playlist> {
    get { objects(2) }
    set { setObjects(newValue, 2) }
  }
}

package final class Single: Track {}

package final class Artist: ManagedObject {
  override package class var propertyNames: [String]? { ["name", "albums", "peers"] }
  package var name: String? {
    get { self[0] }
    set { self[0] = newValue }
  }
  package var albums: OrderedSet<Album> {
    get { orderedObjects(1) }
    set { setOrderedObjects(newValue, 1) }
  }
  package var peers: OrderedSet<Artist> {
    get { orderedObjects(2) }
    set { setOrderedObjects(newValue, 2) }
  }
}

package final class Playlist: ManagedObject {
  override package class var propertyNames: [String]? { ["name", "tracks", "covers"] }
  package var name: String? {
    get { self[0] }
    set { self[0] = newValue }
  }
  package var tracks: OrderedSet<Track> {
    get { orderedObjects(1) }
    set { setOrderedObjects(newValue, 1) }
  }
  package var covers: OrderedSet<Album> {
    get { orderedObjects(2) }
    set { setOrderedObjects(newValue, 2) }
  }
}

extension ManagedObjectContext {
  /// Inserts an album with tracks of these titles, in this order.
  @discardableResult
  package func album(_ title: String, _ titles: [String] = []) throws -> Album {
    let album = try insert(Album.self)
    album.title = title
    album.tracks = try OrderedSet(titles.map { try track($0) })
    return album
  }

  /// Inserts a track.
  @discardableResult
  package func track(_ title: String) throws -> Track {
    guard let track = try insert("Track") as? Track else {
      throw ManagedObjectError.unknownEntity(name: "Track", known: [])
    }
    track.title = title
    return track
  }

  /// Inserts an artist.
  @discardableResult
  package func artist(_ name: String) throws -> Artist {
    let artist = try insert(Artist.self)
    artist.name = name
    return artist
  }
}
