import ControlAPI
import Testing

@Suite("Names that recipes can't have")
struct TakenNamesTests {
  @Test("are those of the routes beside recipes")
  func routes() {
    let prefix = "/v1/recipes/"
    let others = [Endpoint.testRecipe, .diffModel, .fileColumns].map(\.path)
    #expect(Set(others.map { String($0.dropFirst(prefix.count)) }) == Recipe.takenNames)
    #expect(others.allSatisfy { $0.hasPrefix(prefix) })
  }
}
