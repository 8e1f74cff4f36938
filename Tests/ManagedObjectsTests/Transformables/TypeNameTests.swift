import Foundation
import Testing

@testable import ManagedObjects

@Suite("Names of types in models")
struct TypeNameTests {
  struct Inner {}

  private func means<T>(_ name: String, _ type: T.Type) -> Bool {
    guard let declared = TypeName(name), let actual = TypeName(String(reflecting: type)) else { return false }
    return declared.means(actual)
  }

  @Test(
    "a name means the type it names, with or without module, outer type and sugar",
    arguments: ["Inner", "TypeNameTests.Inner", ".Inner", "ManagedObjectsTests.TypeNameTests.Inner"])
  func nominal(name: String) {
    #expect(means(name, Inner.self))
    #expect(!means(name, String.self))
  }

  @Test("collections are compared with what they hold")
  func collections() {
    #expect(means("[String]", [String].self) && means("Array<String>", [String].self))
    #expect(means("Swift.Array<Swift.String>", [String].self) && !means("[String]", [Int].self))
    #expect(means("[String: [Int?]]", [String: [Int?]].self) && !means("[String: [Int]]", [String: [Int?]].self))
    #expect(means("Set< Date >", Set<Date>.self))
    #expect(means("NSArray", [Int].self) && means("NSDictionary", [String: Int].self) && means("NSURL", URL.self))
    #expect(!means("NSArray", Set<Int>.self) && !means("NSString", Int.self))
  }

  @Test("what is no name means nothing", arguments: ["", "[", "[String", "A..B", "A<B", "(Int, Int)", "A B", "A."])
  func nonsense(name: String) {
    #expect(TypeName(name) == nil)
  }
}
