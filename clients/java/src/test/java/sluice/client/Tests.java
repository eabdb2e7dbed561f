package sluice.client;
public class Tests { public static void main(String[] a) throws Exception { Checks c = new Checks(); VectorsTest.run(c); System.out.println(c.made()+" "+c.failed()); } }
