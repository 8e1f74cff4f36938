import Foundation
import Importing
import Jobs
import MagicalRecord
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

/// The guide works on a sample's model and store.
@Suite("The guide to porting an app", .enabled(if: CoreDataFiles.areThere, "needs ../shared/data/stores"))
struct PortingTests {
  static let guide = "docs/porting.md"
  private static let sample = CoreDataFiles.url("../Recipes")

  @Test("its commands run, and say what stands there", .timeLimit(.minutes(60)))
  func commands() async throws {
    let result = try await Document(Self.guide).runBlocks(["RECIPES": Self.sample.path])
    #expect(result.status == 0, "\(result.text)\n\(result.error)")
  }

  @Test("its code is that which the next test compiles and runs")
  func code() throws {
    let source = try Document("Tests/DocumentsTests/PortingTests.swift").lines.map {
      $0.text.trimmingCharacters(in: .whitespaces).replacing("private final class", with: "final class")
    }
    let blocks = try Document(Self.guide).lines.filter { $0.block == "swift" && !$0.text.hasPrefix("```") }
    #expect(blocks.count > 50)
    for line in blocks where !line.text.isEmpty {
      let isThere = source.contains(line.text.trimmingCharacters(in: .whitespaces))
      #expect(isThere, "\(Self.guide):\(line.number): \(line.text)")
    }
  }

  @Test("its code finds, makes and deletes the sample's recipes, and a job renumbers their ingredients")
  func port() async throws {
    let scratch = try ScratchDirectory()
    let folder = scratch.url
    let (storeURL, queueURL) = (scratch.file("recipes.sqlite"), scratch.file("queue.sqlite"))
    let modelURL = scratch.file("Server.xcdatamodel")
    let converted = try await ProgramOutput.of(
      ReferenceTests.products.appending(path: "ladectl"),
      [
        "model", "convert", Self.sample.appending(path: "Recipes.xcdatamodeld").path, "--row-numbers", "--output",
        modelURL.path,
      ], environment: ProcessInfo.processInfo.environment)
    try #require(converted.status == 0, "\(converted.error)")

    let classes: [String: ManagedObject.Type] = [
      "Recipe": Recipe.self, "RecipeType": RecipeType.self, "Ingredient": Ingredient.self,
    ]
    let model = try ImportModel.adding(to: ManagedObjectModel(contentsOf: modelURL, classes: classes))
    let stack = try MagicalStack(model: model, store: .sqlite(at: storeURL))

    let fill = try EmbeddedQueue(
      store: .sqlite(at: scratch.file("fill.sqlite")), dataStores: ["recipes": stack.coordinator],
      operations: .standard, directory: folder.appending(path: "fill"))
    try await fill.start()
    var options = FileImport.Options()
    options.reading = ["format": "core-data"]
    let filled = try await fill.end(
      of: fill.submit(
        "import", store: "recipes", entity: "*", source: Self.sample.appending(path: "Recipes.sqlite"),
        options: options
      ).id)
    try #require(filled.state == .completed, "\(filled.note ?? "")")

    let desserts = try await stack.newPrivateContext().perform { context in
      try Recipe.findAll(sortedBy: "name", matching: FetchPredicate(format: "type.name == 'Dessert'"), in: context)
        .compactMap(\.name)
    }
    #expect(desserts == ["Chocolate Cake", "Crèpes Suzette", "Macarons", "Tarte aux Fraises", "Three Berry Cobbler"])

    try await stack.newPrivateContext().perform { context in
      let recipe = try Recipe.createEntity(in: context)
      recipe.storeRow = -1
      recipe.name = "Rösti"
      recipe.type = try RecipeType.findFirst(by: "name", with: "Dessert", in: context)
      try Recipe.findFirst(by: "name", with: "Macarons", in: context)?.deleteEntity()
      context.saveToPersistentStoreAndWait()
    }
    let kept = try await stack.newPrivateContext().perform { context in
      (
        try Recipe.findAll(sortedBy: "name", in: context).compactMap(\.name),
        try Ingredient.countOfEntities(in: context)
      )
    }
    #expect(kept.0.contains("Rösti") && !kept.0.contains("Macarons") && kept.0.count == 7)
    #expect(kept.1 == 27)

    var operations = OperationCatalogue.standard
    operations.add("renumber", options: RenumberOptions.self) { operation, options in
      let context = try operation.context()
      var progress = JobProgress()
      for recipe in try context.fetch(Recipe.fetchRequest()) {
        let ingredients = recipe.ingredients.sorted { ($0.displayOrder ?? 0) < ($1.displayOrder ?? 0) }
        for (place, ingredient) in ingredients.enumerated() { ingredient.displayOrder = Int16(options.first + place) }
        progress.updated += 1
      }
      try context.save()
      return .completed(progress)
    }
    let queue = try EmbeddedQueue(
      store: .sqlite(at: queueURL), dataStores: ["recipes": stack.coordinator], operations: operations,
      directory: folder)
    try await queue.start()
    let job = try await queue.submit("renumber", store: "recipes", options: RenumberOptions(first: 1))
    let end = try await queue.end(of: job.id)
    #expect(end.state == .completed && end.progress.updated == 7)
    let places = try await stack.newPrivateContext().perform { context in
      try Recipe.findFirst(by: "name", with: "Chocolate Cake", in: context)?.ingredients.compactMap(\.displayOrder)
    }
    #expect(places?.sorted() == Array(1...9))
  }
}

private struct RenumberOptions: Codable {
  var first: Int
}

private final class Recipe: ManagedObject {
  override class var propertyNames: [String]? {
    ["storeRow", "instructions", "name", "overview", "prepTime", "thumbnailImage", "image", "ingredients", "type"]
  }
  var storeRow: Int64? {
    get { self[0] }
    set { self[0] = newValue }
  }
  var name: String? {
    get { self[2] }
    set { self[2] = newValue }
  }
  var ingredients: Set<Ingredient> {
    get { objects(7) }
    set { setObjects(newValue, 7) }
  }
  var type: RecipeType? {
    get { object(8) }
    set { setObject(newValue, 8) }
  }
}

private final class RecipeType: ManagedObject {}

private final class Ingredient: ManagedObject {
  override class var propertyNames: [String]? { ["storeRow", "amount", "displayOrder", "name", "recipe"] }
  var displayOrder: Int16? {
    get { self[2] }
    set { self[2] = newValue }
  }
}
