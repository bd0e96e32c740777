export default { input: './openapi.json', output: './hey-api', plugins: ['@hey-api/client-fetch'] };
