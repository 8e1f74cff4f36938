import Foundation
import Jobs
@testable import LadeDaemon
import Testing

@Suite("What a configuration file expects of recipes")
struct ConfigurationExpectTests {
  private static func file(_ expect: String) throws -> ConfigurationFile {
    try ConfigurationFile(
      """
      stores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}}
      time_zone: Europe/Berlin
      recipes: {people: {store: main, entity: Person, expect: \(expect)}}
      """)
  }

  @Test("is read with every key, in the configured zone")
  func everyKey() throws {
    let configuration = try Self.file("{by: [Mon..Fri 07:00, Sat 09:00], max_age: 36h, at_least: 1000, change: 50%}")
      .load()
    let expectation = try #require(configuration.recipe(named: "people")?.expectation)
    #expect(expectation.by.map(\.normalized) == ["Mon..Fri *-*-* 07:00:00", "Sat *-*-* 09:00:00"])
    #expect(expectation.by.map(\.zone.name) == ["Europe/Berlin", "Europe/Berlin"])
    #expect(expectation.maxAge == .seconds(36 * 3600) && expectation.atLeast == 1000 && expectation.change == 0.5)
    #expect(configuration.watchedRecipes == ["people"])
  }

  /// An expectation, which begins in column 57 of line 3, and what is wrong with it.
  static let cases: [(String, String)] = [
    ("{}", "`recipes.people.expect`: it expects nothing: give `by`, `max_age`, `at_least` or `change`"),
    ("{at_last: 5}", "there is no key `recipes.people.expect.at_last`; did you mean `at_least`?"),
    ("{at_least: 0}", "`recipes.people.expect.at_least` can't be “0”: it must be from 1 to 9223372036854775807"),
    ("{change: 5}", "`recipes.people.expect.change` can't be “5”: write a percentage above 0%, such as 50%"),
    ("{change: 0%}", "`recipes.people.expect.change` can't be “0%”: write a percentage above 0%, such as 50%"),
    ("{max_age: 1 day}", "write a number and its unit"),
    ("{by: Mnday}", "“Mnday” isn't known; did you mean Monday?"),
    ("daily", "`recipes.people.expect` must be a mapping of keys to values"),
  ]

  @Test("is refused with what is wrong and where", arguments: cases)
  func wrong(_ expect: String, _ problem: String) throws {
    let problems = try Self.file(expect).problems()
    #expect(problems.count == 1 && problems[0].contains("3:") && problems[0].contains(problem), "\(problems)")
  }
}
