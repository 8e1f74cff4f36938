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
}
