package sluice.client;

/** Runs all tests, prints what failed, and ends with 1 if anything did. Without JUnit: javac is all that it takes. */
public final class Tests {
  private Tests() {}

  /** See clients/java/test.sh. */
  public static void main(String[] arguments) throws Exception {
    final Checks checks = new Checks();
    VectorsTest.run(checks);
    ThrottledTest.run(checks);
    ClientTest.run(checks);
    if (Boolean.getBoolean("servlet")) {
      final var type = Class.forName("sluice.client.FilterTest");
      type.getDeclaredMethod("run", Checks.class).invoke(null, checks);
    }
    System.out.println("clients.java: " + checks.made() + " assertions, " + checks.failed() + " failed");
    System.exit(checks.failed() == 0 ? 0 : 1);
  }
}
