import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("The model of nested records")
struct NestedInferenceTests {
  private static let posts = #"""
    [
      {"id": 1, "title": "a", "author": {"id": 7, "name": "Ada"}, "tags": ["x", "y"],
       "comments": [{"by": "Bob", "text": "hi", "when": "2024-01-31"}, {"by": "Cy", "text": "yo"}],
       "labels": [{"id": 1, "name": "red"}, {"id": 2, "name": "blue"}]},
      {"id": 2, "title": "b", "author": {"id": 7, "name": "Ada"}, "tags": [], "comments": [],
       "labels": [{"id": 2, "name": "blue"}], "where": {"lat": 1.5, "long": 2, "place": {"name": "Bath", "a.b": 1}}}
    ]
    """#

  @Test("has an entity for objects, with a key where they have one, and imports the file twice without a change")
  func objects() throws {
    let room = try InferenceRoom()
    try room.write(Self.posts, as: "feed/posts.json")
    let folder = room.file("feed").path
    let model = try ModelInference().run([folder])
    #expect(
      model.keys == ["Post": ["id"], "Author": ["id"], "Comment": [], "Label": ["id"], "Where": [], "Place": []])
    #expect(
      model.references == [
        "Post.author -> Author.id", "Post.comments -> Comment.-", "Post.labels -> Label.id",
        "Post.whereValue -> Where.-",
        "Where.place -> Place.-",
      ])
    #expect(model.entity("Comment")?.columns.map(\.type) == ["String", "String", "Date"])
    #expect(model.entity("Place")?.columns.first { $0.name == "a.b" }?.notes.joined().contains("left out") == true)
    #expect(model.text.contains("Comment  (posts.json: comments, 2 records)"), "\(model.text)")
    let definitions = Dictionary(uniqueKeysWithValues: model.definitions.map { ($0.name, $0) })
    let post = try #require(definitions["Post"])
    #expect(post.attributes.map(\.name) == ["id", "title", "tags"])
    #expect(post.relationships.map(\.isToMany) == [false, true, true, false])
    #expect(post.relationships.map(\.deleteRule) == [.nullify, .cascade, .nullify, .cascade])
    // A label belongs to several posts.
    #expect(definitions["Label"]?.relationships.map(\.isToMany) == [true])
    #expect(definitions["Author"]?.relationships.map(\.isToMany) == [true])
    #expect(definitions["Comment"]?.relationships.map(\.isToMany) == [false])
    let coordinator = try room.store(model)
    #expect(coordinator.model.warnings.isEmpty)
    let first = try #require(try room.importAll(model, from: folder, isArchive: false, into: coordinator)["Post"])
    #expect((first.inserted, first.rejected, first.unresolved) == (2, 0, 0))
    let second = try #require(try room.importAll(model, from: folder, isArchive: false, into: coordinator)["Post"])
    #expect((second.unchanged, second.updated, second.rejected) == (2, 0, 0))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "looking")
    func count(_ entity: String, _ format: String) throws -> Int {
      try context.count(
        for: FetchRequest<ManagedObject>(entityName: entity, predicate: try FetchPredicate(format: format)))
    }
    #expect(try count("Author", "posts.@count == 2") == 1)
    #expect(try count("Comment", "post.id == 1") == 2)
    #expect(try count("Label", "posts.@count == 2") == 1)
    #expect(try count("Post", "whereValue.place.name == 'Bath' AND whereValue.long == 2") == 1)
  }

  @Test("an id that different objects share isn't their key, and a name that a file's entity has is the owner's too")
  func identities() throws {
    let model = try InferenceRoom().infer([
      (
        "orders.ndjson",
        #"{"id":1,"items":[{"id":1,"sku":"a"},{"id":2,"sku":"b"}]}"# + "\n"
          + #"{"id":2,"items":[{"id":1,"sku":"c"}]}"# + "\n"
      ),
      ("items.csv", "id,name\n1,a\n2,b\n"),
    ])
    #expect(model.keys == ["Order": ["id"], "Item": ["id"], "OrderItem": []])
    #expect(model.references == ["Order.items -> OrderItem.-"])
  }

  @Test("leaves out a column of objects whose keys are too many to be those of properties")
  func maps() throws {
    func model(_ count: Int) throws -> InferredModel {
      let members = (0..<count).map { #""k\#($0)": {"a": 1}"# }.joined(separator: ",")
      return try InferenceRoom().infer([
        ("things.json", #"[{"id": 1, "all": {\#(members)}}, {"id": 2, "all": {"x": {}}}]"#)
      ])
    }
    let map = try #require(try model(2_000).entities.first?.columns.first { $0.name == "all" })
    #expect(map.attribute == nil && map.reference == nil)
    #expect(map.notes.joined().contains("looks like a map of keys"))
    #expect(try model(2_000).definitions.map(\.name) == ["Thing"])
    #expect(try model(20).definitions.count == 22)
  }

  @Test("leaves out what has no name, and says so")
  func unnamed() throws {
    let text = #"[{"id": 1, "": {"a": 1}, "in": {"": 2, "b": {"": [{"c": 1}], "d": 1}}, "e": 1}]"#
    let model = try InferenceRoom().infer([("things.json", text)])
    #expect(model.definitions.map(\.name) == ["Thing", "In", "B"])
    #expect(model.definitions.map { $0.attributes.map(\.name) } == [["id", "e"], [], ["d"]])
    for entity in model.entities {
      let column = try #require(entity.columns.first { $0.name.isEmpty })
      #expect(column.notes.joined().contains("no name"))
    }
  }

  @Test("takes the members of a document for its records, with their keys as the key, and imports them")
  func members() throws {
    let room = try InferenceRoom()
    let text = #"{"DE": {"name": "Germany", "people": 83}, "FR": {"name": "France", "people": 68}}"#
    try room.write(text, as: "feed/countries.json")
    let folder = room.file("feed").path
    let model = try ModelInference().run([folder])
    #expect(model.keys == ["Country": ["key"]])
    #expect(model.entities[0].notes.joined().contains("with their keys in the column “key”"))
    let coordinator = try room.store(model)
    for expected in [(2, 0), (0, 2)] {
      let counts = try #require(try room.importAll(model, from: folder, isArchive: false, into: coordinator)["Country"])
      #expect((counts.inserted, counts.unchanged) == (Int64(expected.0), Int64(expected.1)))
    }
  }
}
