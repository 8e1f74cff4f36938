import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Places of ordered relationships in predicates")
struct OrderedPredicateTests {
  private func titles(_ context: ManagedObjectContext, _ format: String, _ variables: [String: Any?] = [:]) throws
    -> [String]
  {
    let predicate = try FetchPredicate(format: format).withSubstitutionVariables(variables)
    return try context.all(Album.self, predicate).compactMap(\.title).sorted()
  }

  @Test("are answered by the store, and of unsaved changes by the context", arguments: StoreKind.allCases)
  func places(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind, model: MusicModel.model)
    let context = stack.context()
    try context.album("Best", ["c", "a", "b"])
    try context.album("Other", ["a", "d"])
    try context.album("Empty", [])
    try context.save()
    let reader = stack.context()
    #expect(try titles(reader, "tracks[FIRST].title == 'a'") == ["Other"])
    #expect(try titles(reader, "tracks[LAST].title == 'b'") == ["Best"])
    #expect(try titles(reader, "tracks[1].title == 'a'") == ["Best"])
    #expect(try titles(reader, "tracks[$n].title == 'd'", ["n": 1]) == ["Other"])
    #expect(try titles(reader, "tracks[0] == nil") == ["Empty"])
    #expect(try titles(reader, "SUBQUERY(tracks, $t, $t.title != 'c')[FIRST].title == 'a'") == ["Best", "Other"])

    let best = try #require(try reader.all(Album.self, .equal("title", .string("Best"))).first)
    best.tracks = [best.tracks[2], best.tracks[0]]
    #expect(try titles(reader, "tracks[FIRST].title == 'b'") == ["Best"])
    #expect(try titles(reader, "tracks[2] == nil") == ["Best", "Empty", "Other"])
    try reader.save()
    #expect(try titles(stack.context(), "tracks[FIRST].title == 'b'") == ["Best"])
  }

  @Test("stand in typed predicates as the first, the last and a subscript", arguments: StoreKind.allCases)
  func typed(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind, model: MusicModel.model)
    let context = stack.context()
    try context.album("Best", ["c", "a", "b"])
    try context.album("Other", ["a", "d"])
    try context.save()
    func titles(_ predicate: Predicate<Album>) throws -> [String?] {
      try context.fetch(FetchRequest<Album>(predicate: predicate)).map(\.title)
    }
    #expect(try titles(#Predicate { $0.tracks.first?.title == "a" }) == ["Other"])
    #expect(try titles(#Predicate { $0.tracks.last?.title == "b" }) == ["Best"])
    #expect(try titles(#Predicate { $0.tracks[1].title == "d" }) == ["Other"])
    #expect(try titles(#Predicate { $0.tracks.count == 3 && !$0.tracks.isEmpty }) == ["Best"])
  }

  @Test("of what has no order are refused, with the part named", arguments: StoreKind.allCases)
  func refused(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind, model: MusicModel.model).context()
    for format in [
      "title[0] == 'x'", "tracks.playlists[0] == nil", "tracks['x'] == nil", "tracks[title] == nil",
      "tracks[0].playlists.@count == 1", "tracks[0].tilte == 'x'", "ANY tracks[0].playlists.title == 'x'",
      "tracks[$n] == nil",
    ] {
      #expect(throws: FetchPredicateError.self, "\(format)") { try titles(context, format) }
    }
  }
}
