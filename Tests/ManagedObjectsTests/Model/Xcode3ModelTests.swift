import Foundation
import ManagedObjects
import TestSupport
import Testing

/// The sample's model, which Xcode 3 wrote.
@Suite("Models of Xcode 3", .enabled(if: CoreDataFiles.areThere, "needs ../shared/data/stores"))
struct Xcode3ModelTests {
  private let url = CoreDataFiles.url("../Recipes/Recipes.xcdatamodeld")

  @Test("entities, attributes and relationships are read as Xcode's editor shows them")
  func recipes() throws {
    let model = try ManagedObjectModel(contentsOf: url)
    #expect(model.warnings.isEmpty)
    #expect(model.entities.map(\.name).sorted() == ["Image", "Ingredient", "Recipe", "RecipeType"])
    let recipe = try #require(model.entitiesByName["Recipe"])
    let ingredient = try #require(model.entitiesByName["Ingredient"])
    #expect(
      recipe.attributes.map(\.name).sorted() == ["instructions", "name", "overview", "prepTime", "thumbnailImage"])
    let thumbnail = try #require(recipe.attributes.first { $0.name == "thumbnailImage" })
    #expect(thumbnail.type == .transformable)
    let name = try #require(ingredient.attributes.first { $0.name == "name" })
    #expect(name.defaultValue == .string("Ingredient Name") && !name.isOptional)
    let order = try #require(ingredient.attributes.first { $0.name == "displayOrder" })
    #expect(order.type == .integer16 && order.defaultValue == .int(0))
    let ingredients = try #require(recipe.relationships.first { $0.name == "ingredients" })
    #expect(
      ingredients.isToMany && ingredients.deleteRule == .cascade && ingredients.inverseRelationship?.name == "recipe")
    let type = try #require(recipe.relationships.first { $0.name == "type" })
    #expect(!type.isToMany && type.deleteRule == .nullify && type.destinationEntity.name == "RecipeType")
  }

  @Test("each version is read, and the file itself")
  func places() throws {
    let current = try ManagedObjectModel(contentsOf: url)
    for version in try ManagedObjectModel.versions(of: url).values {
      #expect(try ManagedObjectModel(contentsOf: version).entities.count == 4)
      let file = version.appendingPathComponent("elements")
      #expect(try ManagedObjectModel(contentsOf: file).entityVersionHashesByName == current.entityVersionHashesByName)
    }
  }

  @Test("a damaged file is an error, whichever byte is damaged")
  func damaged() throws {
    let folder = try ScratchDirectory()
    let bytes = try Data(contentsOf: url.appendingPathComponent("Recipes.xcdatamodel/elements"))
    let file = folder.url.appendingPathComponent("elements")
    for place in stride(from: 0, to: bytes.count, by: 997) {
      var damaged = bytes
      damaged[damaged.startIndex + place] ^= 0xff
      try damaged.write(to: file)
      // Damage in a text may be read, or makes a model that doesn't fit together; anything else is an error that names the file.
      do {
        _ = try ManagedObjectModel(contentsOf: file)
      } catch let error as ModelError {
        if case .inconsistent = error { continue }
        #expect("\(error)".contains(file.path))
      }
    }
    for place in stride(from: 0, to: bytes.count, by: 997) {
      try bytes.prefix(place).write(to: file)
      #expect(throws: ModelError.self) { try ManagedObjectModel(contentsOf: file) }
    }
  }
}
