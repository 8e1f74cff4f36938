import TestSupport
import Testing

@testable import ControlServer

@Suite("Metrics as text")
struct MetricsTextTests {
  @Test("help and type stand once before a family's samples, and label values are escaped")
  func families() throws {
    var jobs = MetricFamily(.gauge, "lade_jobs", "Jobs, by \\lane\nand state.")
    jobs.add(2, ["lane": "a\"b\\c\nd\r\nü", "state": "running"])
    jobs.add(0, ["lane": "b", "state": "running"])
    let text = MetricsText.of([jobs, MetricFamily(.counter, "lade_x_total", "X.", value: 12)])
    #expect(
      text == """
        # HELP lade_jobs Jobs, by \\\\lane\\nand state.
        # TYPE lade_jobs gauge
        lade_jobs{lane="a\\"b\\\\c\\nd\r\\nü",state="running"} 2
        lade_jobs{lane="b",state="running"} 0
        # HELP lade_x_total X.
        # TYPE lade_x_total counter
        lade_x_total 12

        """)
    let read = try PrometheusText(text)
    #expect(read.families["lade_jobs"]?.help == "Jobs, by \\lane\nand state.")
    #expect(read.value("lade_jobs", ["lane": "a\"b\\c\nd\r\nü"]) == 2)
  }

  @Test("a family without samples isn't there")
  func empty() {
    #expect(MetricsText.of([MetricFamily(.gauge, "lade_jobs", "Jobs.")]) == "")
  }

  @Test("buckets are cumulative, what is on a bound is within it, and +Inf is the count")
  func histogram() throws {
    var histogram = Histogram(bounds: [0.1, 1])
    for value in [0.05, 0.1, 0.5, 7] { histogram.observe(value) }
    histogram.observe(.milliseconds(250))
    var family = MetricFamily(.histogram, "lade_t_seconds", "T.")
    family.add(histogram, ["kind": "import"])
    let text = MetricsText.of([family])
    #expect(
      text.split(separator: "\n").dropFirst(2) == [
        #"lade_t_seconds_bucket{kind="import",le="0.1"} 2"#, #"lade_t_seconds_bucket{kind="import",le="1"} 4"#,
        #"lade_t_seconds_bucket{kind="import",le="+Inf"} 5"#, #"lade_t_seconds_sum{kind="import"} 7.9"#,
        #"lade_t_seconds_count{kind="import"} 5"#,
      ])
    _ = try PrometheusText(text)
    for standard in [Histogram.ofWaits, .ofWork] {
      #expect(standard.count == 0 && standard.bounds == standard.bounds.sorted())
      _ = try PrometheusText(MetricsText.of([MetricFamily("lade_t_seconds", "T.", standard)]))
    }
  }

  @Test("numbers are as Prometheus reads them")
  func numbers() {
    #expect(
      [0, -1, 0.25, 1e-5, 1.5e300, 123_456_789_012, .infinity, -.infinity, .nan].map(MetricsText.number)
        == ["0", "-1", "0.25", "1e-05", "1.5e+300", "123456789012", "+Inf", "-Inf", "NaN"])
  }

  @Test("the tests' reader finds what isn't right")
  func reader() {
    for wrong in [
      "lade_x 1\n", "# HELP lade_x X.\n# TYPE lade_x gauge\nlade_x 1",
      "# HELP lade_x X.\n# TYPE lade_x counter\nlade_x 1\n",
      "# HELP lade_x X.\n# TYPE lade_x gauge\nlade_x 1\nlade_x 2\n",
      "# HELP lade_x X.\n# TYPE lade_x gauge\nlade_y 1\n",
      "# HELP lade_x X.\n# TYPE lade_x gauge\nlade_x{a=\"b} 1\n", "# HELP lade_x X.\n# TYPE lade_x gauge\nlade_x one\n",
      "# HELP lade_x X.\n# TYPE lade_x histogram\nlade_x_bucket{le=\"+Inf\"} 1\nlade_x_sum 1\nlade_x_count 2\n",
    ] {
      #expect(throws: PrometheusText.Mistake.self, "\(wrong)") { try PrometheusText(wrong) }
    }
  }
}
